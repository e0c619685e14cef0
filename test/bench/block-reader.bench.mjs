// The plain block reader against js-yaml alone, on the files of the ingest bench: `npm run build:modules && node test/bench/block-reader.bench.mjs [FILES]`
import { execFileSync } from 'node:child_process';
import yaml from 'js-yaml';
import { readPlainBlock } from '../../.cache/modules/src/adapters/yaml/block-reader.js';
import { kubectlSchema } from '../../.cache/modules/packages/kube/src/yaml/kubectl-schema.js';
import { filesOf } from './gen-repository.mjs';

const [FILES = 20_000, mode] = process.argv.slice(2);
const ROUNDS = 7;
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

if (mode === undefined) {
  // Each round in a process of its own, as a first ingest is: nothing is compiled or warm.
  const round = (which) => Number(execFileSync(process.execPath, [process.argv[1], String(FILES), which], { encoding: 'utf8' }));
  const rounds = { plain: [], full: [] };
  for (let at = 0; at < ROUNDS; at++) for (const which of Object.keys(rounds)) rounds[which].push(round(which));
  const [plainMs, fullMs] = [median(rounds.plain), median(rounds.full)];
  console.log(`parse ${FILES} files: plain block reader, else js-yaml : js-yaml = ${(plainMs / fullMs).toFixed(2)} (${plainMs.toFixed(0)} : ${fullMs.toFixed(0)} ms of CPU)`);
} else {
  const texts = filesOf(Number(FILES)).map(([, text]) => text);
  const schema = kubectlSchema();
  const full = (text) => yaml.load(text, { schema });
  const read = mode === 'plain' ? (text) => readPlainBlock(text)?.value ?? full(text) : full;
  const before = process.cpuUsage();
  for (const text of texts) read(text);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
}
