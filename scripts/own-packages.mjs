// For esbuild: the packages of this repository are bundled from the sources that their package.json exports; all others are loaded from
// node_modules.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const exportsOf = new Map();

function sourceOf(path) {
  const [, name, file] = /^@berth\/([^/]+)(\/.+)?$/.exec(path);
  if (!exportsOf.has(name)) {
    const manifest = JSON.parse(readFileSync(`${root}packages/${name}/package.json`, 'utf8'));
    exportsOf.set(name, manifest.exports);
  }
  return `./packages/${name}/${exportsOf.get(name)[`.${file ?? ''}`]}`;
}

/** What all bundles have in common. */
export const FOR_NODE = {
  bundle: true,
  packages: 'external',
  loader: { '.yaml': 'text' },
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
};

export const OWN_PACKAGES = {
  name: 'own-packages',
  setup(plugins) {
    // A module that is imported for nothing is left out of a bundle.
    plugins.onResolve({ filter: /^@berth\// }, async ({ path, kind }) => ({
      ...(await plugins.resolve(sourceOf(path), { resolveDir: root, kind })),
      sideEffects: false,
    }));
  },
};
