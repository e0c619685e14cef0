// Sends random input at the parsers that face a network, for as long as you like:
//   npm run fuzz -- [--inputs N] [--hours H] [--seed N] [--target hub-bodies|protobuf|yaml|webhooks|plugin]
// An input that breaks something is written to test-results/fuzz; the same seed makes the same inputs.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    hours: { type: 'string' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string' },
  },
});
for (const name of ['inputs', 'hours', 'seed'])
  if (values[name] !== undefined && !(Number(values[name]) > 0))
    throw new Error(`--${name}: expected a number above 0, got ${JSON.stringify(values[name])}`);
const hours = values.hours === undefined ? {} : { BERTH_FUZZ_MAX_MS: String(Number(values.hours) * 3_600_000) };
// An input that hangs ends the process by itself (test/security/fuzz/hang-watch.ts); all of them may take as long as they take.
const args = ['vitest', 'run', '--project', 'security', '--testTimeout', '0', 'test/security/fuzz/'];
const { status } = spawnSync('npx', args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    ...hours,
    BERTH_FUZZ_INPUTS: values.hours === undefined ? values.inputs : String(Number.MAX_SAFE_INTEGER),
    BERTH_SEED: values.seed,
    ...(values.target === undefined ? {} : { BERTH_FUZZ_TARGET: values.target }),
  },
});
process.exitCode = status ?? 1;
