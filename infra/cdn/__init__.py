"""CloudFront in front of both APIs: what it caches, the secret that it shows them, and its log.

It is part of the one stack: a stack of its own would take the API's id and the secret word from exports. CloudFormation
keeps an export that is in use (docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html), so
the setting could not be switched off.
"""
