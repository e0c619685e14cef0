import { defineConfig } from 'vitest/config';
import { HANG_MS, PATIENCE_MS } from './test/fakes/patience.ts';

const project = (name: string, include: string[]) => ({ extends: true as const, test: { name, include } });

/** One project per level; `npm test` runs them all and ends with plain counts (test/plain-counts.reporter.ts). */
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // A test may fail because the software is wrong, never because the machine is slow: no test sets a shorter limit of its own.
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
    reporters: ['default', './test/plain-counts.reporter.ts'],
    projects: [
      project('unit', ['test/{core,runtime,adapters,hub,app,plugin,house}/**/*.test.ts']),
      project('conformance', ['test/conformance/**/*.test.ts']),
      project('property', ['test/property/**/*.test.ts']),
      project('e2e', ['test/e2e/**/*.test.ts']),
    ],
  },
});
