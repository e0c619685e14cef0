// Runs an example that is written in TypeScript: `npm run --silent example -- addon-helloworld-helm`. It is bundled first, as the command is,
// because Node 20 runs no TypeScript.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { FOR_NODE, OWN_PACKAGES } from './own-packages.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const [name, ...args] = process.argv.slice(2);
const hasProgram = (example) => existsSync(`${root}examples/${example}/main.ts`);
if (name === undefined || !hasProgram(name)) {
  const known = (await readdir(`${root}examples`)).filter(hasProgram);
  console.error(`example: got ${JSON.stringify(name ?? '')}, expected ${known.join(', ')}`);
  process.exit(2);
}
const outfile = `${root}.cache/examples/${name}.mjs`;
await build({
  ...FOR_NODE,
  absWorkingDir: root,
  entryPoints: [`examples/${name}/main.ts`],
  outfile,
  plugins: [OWN_PACKAGES],
  sourcemap: 'inline',
  // Where the files of the example are, and not its bundle.
  define: { 'import.meta.dirname': JSON.stringify(`${root}examples/${name}`) },
});
const { main } = await import(outfile);
try {
  await main(args, (text) => process.stdout.write(`${text}\n`));
} catch (error) {
  console.error(`example ${name}: ${error.message}`);
  process.exit(1);
}
