import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], testTimeout: number) => ({
  extends: true as const,
  test: { name, include, testTimeout, hookTimeout: 60_000 },
});

/** One project per level; `npm test` runs them all and ends with plain counts (test/plain-counts.reporter.ts). */
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', './test/plain-counts.reporter.ts'],
    projects: [
      project('unit', ['test/{core,runtime,adapters,hub,app,plugin,house}/**/*.test.ts'], 20_000),
      project('conformance', ['test/conformance/**/*.test.ts'], 120_000),
      project('property', ['test/property/**/*.test.ts'], 300_000),
      project('e2e', ['test/e2e/**/*.test.ts'], 300_000),
    ],
  },
});
