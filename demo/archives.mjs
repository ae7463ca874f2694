// Runs archives.py in the Python that the tab runs, under Node: node archives.mjs PYODIDE FOLDERS, where FOLDERS is a
// JSON object of mount points and folders.
const [, , pyodide, folders] = process.argv;
const { loadPyodide } = await import(`${pyodide}/pyodide.mjs`);
const py = await loadPyodide();
for (const [at, root] of Object.entries(JSON.parse(folders))) {
  py.FS.mkdirTree(at);
  py.FS.mount(py.FS.filesystems.NODEFS, { root }, at);
}
try {
  py.runPython(`
import sys
sys.dont_write_bytecode = True
sys.path[:0] = ["/wheels", "/app", "/lambda"]
sys.path.append("/libraries")
from demo import archives
archives.pack()
`);
} catch (error) {
  console.error(error.message); // the stack would show all of Pyodide in one line
  process.exitCode = 1;
}
