import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/**
 * A test fails because the software is wrong, never because the machine is slow: how long a test, a hook or a poll may take stands in
 * vitest.config.ts and test/fakes/patience.ts, and nowhere else.
 */
const OWN_LIMITS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/^\s*\}, [\d_]+\);$/, 'leave the limit of a test to vitest.config.ts'],
  [/\btimeout: ?[\d_]/, 'leave the limit of a test or a poll to vitest.config.ts'],
  [/\bvi\.wait(For|Until)\(/, 'expect.poll waits for as long as vitest.config.ts says'],
  [/\b(Date|performance)\.now\(\) \+ [\d_]+;/, 'a deadline is PATIENCE_MS away'],
];

it('no test has a time limit of its own', () => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', 'test'])
    .toString('utf8')
    .split('\0')
    .filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        OWN_LIMITS.filter(([pattern]) => pattern.test(line)).map(
          ([, instead]) => `${file}:${index + 1}: ${line.trim()}: ${instead}`,
        ),
      ),
  );
  expect(found.filter((line) => !line.startsWith('test/house/patience.test.ts:'))).toEqual([]);
});
