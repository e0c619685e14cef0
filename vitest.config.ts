import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.sequencer.ts';
import { HANG_MS, LONG_RUN_MS, PATIENCE_MS } from './packages/test-kit/src/patience.ts';

interface ProjectOptions {
  readonly retry?: number;
  readonly isolate?: boolean;
  readonly exclude?: string[];
  readonly setupFiles?: string[];
  readonly testTimeout?: number;
  readonly fileParallelism?: boolean;
}
const project = (name: string, include: string[], options: ProjectOptions = {}) => ({
  extends: true as const,
  test: { name, include, ...options },
});
/**
 * How often a test with real processes, sockets and disks runs again before it fails. Only `.ci/run` sets it, because it shares its
 * machine with others; it names the tests that needed it.
 */
const AGAIN = Number(process.env['BERTH_RETRY'] ?? 0);

const ROOMS =
  '{test/{core,adapters,hub,render,controllers,agent,app,plugin,deploy,fakes,house},packages/*/test}/**';
/** Levels of their own inside of a package's tests. */
const LEVELS = ['packages/*/test/{conformance,property}/**'];
/** They put something else in the place of a module that the others use as it is. */
const APART = [
  'test/adapters/store/crash-points.integration.test.ts',
  'packages/agent/test/registration/folder-store-crash.integration.test.ts',
  'packages/embedded-hub/test/log/power-cut.integration.test.ts',
];

/** One project per level. `npm test` runs those whose name does not begin with `interop`, and ends with plain counts (test/plain-counts.reporter.ts). */
export default defineConfig({
  // As the text loader of scripts/build.mjs.
  plugins: [
    {
      name: 'yaml-as-text',
      transform: (code, id) => (id.endsWith('.yaml') ? `export default ${JSON.stringify(code)};` : undefined),
    },
  ],
  test: {
    pool: 'forks',
    // One more than the cores of a small machine: many tests wait for other processes.
    maxWorkers: 3,
    // A test may fail because the software is wrong, never because the machine is slow: no test sets a shorter limit of its own.
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
    reporters: ['default', './test/plain-counts.reporter.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      // No socket, process or disk: what tries is refused (test/unit-boundary.setup.ts). Nothing to try twice.
      // Without isolation: a third of the whole time would go into loading the same modules for each file again.
      project('unit', [`${ROOMS}/*.test.ts`], {
        isolate: false,
        exclude: [`${ROOMS}/*.integration.test.ts`, ...LEVELS],
        // Who writes golden files again writes files.
        setupFiles: [
          ...(process.env['UPDATE_GOLDEN'] === '1' ? [] : ['test/unit-boundary.setup.ts']),
          'test/random-input.setup.ts',
        ],
      }),
      project('integration', [`${ROOMS}/*.integration.test.ts`], {
        retry: AGAIN,
        isolate: false,
        exclude: APART,
      }),
      project('integration-apart', APART, { retry: AGAIN }),
      project('conformance', ['{test,packages/*/test}/conformance/**/*.test.ts']),
      project('property', ['{test,packages/*/test}/property/**/*.test.ts'], {
        testTimeout: LONG_RUN_MS,
        setupFiles: ['test/random-input.setup.ts'],
      }),
      // Each attack that was ever found to work, by name, and short runs of the fuzzers.
      project('security', ['test/security/**/*.test.ts'], { retry: AGAIN, testTimeout: LONG_RUN_MS }),
      project('e2e', ['test/e2e/**/*.test.ts'], { retry: AGAIN, testTimeout: LONG_RUN_MS }),
      // Against real programs: `npm run test:interop`, never part of `npm test`.
      project('interop', ['test/interop/**/*.test.ts'], { retry: AGAIN, testTimeout: LONG_RUN_MS }),
      // In pods of a cluster that is thrown away: `npm run test:node`, one file after the other.
      project('interop-node', ['test/node/**/*.test.ts'], {
        testTimeout: LONG_RUN_MS,
        fileParallelism: false,
      }),
    ],
  },
});
