import { defineConfig } from 'vitest/config';
import { HANG_MS, PATIENCE_MS } from './test/fakes/patience.ts';

const project = (name: string, include: string[], retry = 0) => ({
  extends: true as const,
  test: { name, include, retry },
});
/** Tests with real processes, sockets and disks run a second time before they fail a shared machine's CI; the counts name them. */
const AGAIN = process.env['CI'] === undefined ? 0 : 1;

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
      project('unit', ['test/{core,runtime,adapters,hub,app,plugin,house}/**/*.test.ts'], AGAIN),
      project('conformance', ['test/conformance/**/*.test.ts']),
      project('property', ['test/property/**/*.test.ts']),
      project('e2e', ['test/e2e/**/*.test.ts'], AGAIN),
    ],
  },
});
