import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { firstSeed } from '@berth/test-kit/test-seed';
import type { FuzzTarget } from './fuzz-target.ts';
import { runFuzz } from './run-fuzz.ts';
import { hubBodies } from './targets/hub-bodies.ts';
import { plugin } from './targets/plugin.ts';
import { protobuf } from './targets/protobuf.ts';
import { webhooks } from './targets/webhooks.ts';
import { yaml } from './targets/yaml.ts';

const TARGETS: Readonly<Record<string, FuzzTarget>> = {
  'hub-bodies': hubBodies,
  protobuf,
  yaml,
  webhooks,
  plugin,
};

/** `npm run fuzz` sets these; without them a short run with a fixed seed. */
const inputs = Number(process.env['BERTH_FUZZ_INPUTS'] ?? 5_000);
const seed = firstSeed(1);
const maxMs = Number(process.env['BERTH_FUZZ_MAX_MS'] ?? Infinity);
const only = process.env['BERTH_FUZZ_TARGET'];
const directory = join(fileURLToPath(new URL('../../..', import.meta.url)), 'test-results', 'fuzz');

const chosen = Object.entries(TARGETS).filter(([name]) => only === undefined || only === name);

describe('random input', () => {
  it.each(chosen)('%s: no crash, no input over a second, no growing heap', async (name, target) => {
    const report = await runFuzz(target, { name, inputs, seed, directory, maxMs });
    console.log(`fuzz ${name} seed ${seed}: ${JSON.stringify(report)}`);
    expect(report.outcomes).toBeGreaterThan(5);
  });
});
