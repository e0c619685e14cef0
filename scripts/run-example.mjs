// Runs an example that is written in TypeScript: `npm run --silent example -- addon-helloworld-helm`. It is bundled first, as the command is,
// because Node 20 runs no TypeScript.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { OWN_PACKAGES } from './own-packages.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const [name, ...args] = process.argv.slice(2);
const outfile = `${root}.cache/examples/${name}.mjs`;
await build({
  absWorkingDir: root,
  entryPoints: [`examples/${name}/main.ts`],
  outfile,
  bundle: true,
  packages: 'external',
  plugins: [OWN_PACKAGES],
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: 'inline',
  // Where the files of the example are, and not its bundle.
  define: { 'import.meta.dirname': JSON.stringify(`${root}examples/${name}`) },
  logLevel: 'warning',
});
const { main } = await import(outfile);
await main(args, (text) => process.stdout.write(`${text}\n`));
