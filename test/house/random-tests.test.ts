import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles, TESTS } from './source-files.ts';

interface RandomTests {
  readonly randomTests: () => string[];
  readonly failuresIn: (report: object, draw: Readonly<Record<string, string>>) => object[];
}

const { href } = new URL('../../scripts/random-tests.mjs', import.meta.url);
const { randomTests, failuresIn } = (await import(/* @vite-ignore */ href)) as RandomTests;

it('seeds come from one place, so that each random test gets the seed of a draw', () => {
  const readers = sourceFiles(TESTS, '.ts').filter((file) =>
    /env(\.|\[')BERTH_SEED/.test(readFileSync(file, 'utf8')),
  );
  expect(readers).toEqual(['packages/test-kit/src/test-seed.ts']);
});

it('a draw runs tests of all levels that have random input, and no others', () => {
  const tests = randomTests();
  expect(tests).toEqual(
    expect.arrayContaining([
      'packages/runtime/test/json/json-equal.test.ts',
      'test/e2e/serve-crash.test.ts',
      'test/property/plan-outcome.test.ts',
      'test/security/fuzz/fuzz.test.ts',
    ]),
  );
  expect(tests).not.toContain('test/house/random-tests.test.ts');
});

it('fast-check has the seed in each file that uses it', () => {
  // Only these projects have test/random-input.setup.ts.
  const seeded =
    /\/property\/|^(?!(test|packages\/[\w-]+\/test)\/(conformance|e2e|interop|security)\/)(?!.*\.integration\.test\.ts$)/;
  const without = randomTests().filter(
    (file) => readFileSync(file, 'utf8').includes("from 'fast-check'") && !seeded.test(file),
  );
  expect(without).toEqual([]);
});

it('what a draw found is printed with the command that repeats it', () => {
  const file = join(process.cwd(), 'packages/placement/test/property/cel.test.ts');
  const report = {
    testResults: [
      {
        name: file,
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'CEL passes' },
          { status: 'failed', fullName: "CEL isn't wrong (2 runs)", failureMessages: ['Error: 1\nat x'] },
        ],
      },
      { name: file, status: 'failed', message: 'cannot be loaded', assertionResults: [] },
      { name: file, status: 'passed', assertionResults: [] },
    ],
  };
  expect(failuresIn(report, { BERTH_SEED: '7', BERTH_HISTORIES: '3' })).toEqual([
    {
      name: "packages/placement/test/property/cel.test.ts > CEL isn't wrong (2 runs)",
      message: 'Error: 1',
      command: `BERTH_SEED=7 BERTH_HISTORIES=3 npx vitest run packages/placement/test/property/cel.test.ts -t 'CEL isn'\\''t wrong \\(2 runs\\)'`,
    },
    {
      name: 'packages/placement/test/property/cel.test.ts',
      message: 'cannot be loaded',
      command: 'BERTH_SEED=7 BERTH_HISTORIES=3 npx vitest run packages/placement/test/property/cel.test.ts',
    },
  ]);
});
