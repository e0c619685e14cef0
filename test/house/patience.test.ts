import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

/**
 * A test fails because the software is wrong, never because the machine is slow: how long a test, a hook or a poll may take is in
 * vitest.config.ts and packages/test-kit/src/patience.ts, and nowhere else.
 */
const OWN_LIMITS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/^\s*\}, [\d_]+\);$/, 'leave the limit of a test to vitest.config.ts'],
  [/\btimeout: ?[\d_]/, 'leave the limit of a test or a poll to vitest.config.ts'],
  [/\bvi\.wait(For|Until)\(/, 'expect.poll waits for as long as vitest.config.ts says'],
  [/\b(Date|performance)\.now\(\) \+ [\d_]+;/, 'a deadline is PATIENCE_MS away'],
];

/**
 * A wait of a fixed time proves nothing on a busy machine and wastes time on an idle one: wait for an event with expect.poll, for what
 * must not come with whenIdle (packages/test-kit/src/when-idle.ts) or by a steered clock. What must stay says why in the line above.
 */
const FIXED_WAIT = /setTimeout\((resolve|done), (?!ms\))|\bawait (sleep|pause)\(|\[.*\bsleep\(/;
const REASON = /\/\/ fixed wait: \w/;

const files = sourceFiles(['test'], '.ts').filter((file) => file !== 'test/house/patience.test.ts');
const linesOf = (file: string): readonly string[] => readFileSync(file, 'utf8').split('\n');

it('a test that waits for a fixed time says why', () => {
  const found = files.flatMap((file) => {
    const lines = linesOf(file);
    return lines.flatMap((line, index) =>
      FIXED_WAIT.test(line) && !REASON.test(lines[index - 1] ?? '')
        ? [`${file}:${index + 1}: ${line.trim()}`]
        : [],
    );
  });
  expect(found).toEqual([]);
});

it('no test has a time limit of its own', () => {
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) =>
    linesOf(file).flatMap((line, index) =>
      OWN_LIMITS.filter(([pattern]) => pattern.test(line)).map(
        ([, instead]) => `${file}:${index + 1}: ${line.trim()}: ${instead}`,
      ),
    ),
  );
  expect(found).toEqual([]);
});
