import { InputError } from '@berth/runtime/errors';
import { describe, expect, it } from 'vitest';
import { createLogger, readableLines } from '../../../src/adapters/log/pino-logger.ts';

function logged(colour: boolean): {
  readonly lines: string[];
  readonly log: ReturnType<typeof createLogger>;
} {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(readableLines(line, colour)) };
  return { lines, log: createLogger({ level: 'debug', stream }) };
}

/** The time of an entry is that of the process. */
const withoutTime = (line: string | undefined): string | undefined =>
  line?.replace(/\d\d:\d\d:\d\dZ/, 'TIME');

describe('the log on a terminal', () => {
  it('has one line for an entry, with its fields', () => {
    const { lines, log } = logged(false);
    log.child({ source: 'fleet' }).info('a commit was applied', { commit: 'abc', objects: 3, path: 'a b' });
    expect(lines.map(withoutTime)).toEqual([
      'TIME info  a commit was applied source=fleet commit=abc objects=3 path="a b"\n',
    ]);
  });

  it('says below what an error says, and how it is corrected', () => {
    const { lines, log } = logged(false);
    const error = new InputError('is missing', { code: 'x.missing', subject: 'web.yaml:3', hint: 'add it' });
    log.warn('a file was refused', { error });
    log.error('unexpected', { error: new Error('broken') });
    expect(withoutTime(lines[0])).toBe(
      'TIME warn  a file was refused\n    web.yaml:3: is missing (x.missing)\n    add it\n',
    );
    expect(lines[1]).toMatch(/error unexpected\n {4}Error: broken\n {4}at /);
  });

  it('colours by meaning, and only where it is asked to', () => {
    const { lines, log } = logged(true);
    log.error('it failed');
    expect(lines[0]).toContain('\u001b[31merror\u001b[0m it failed');
  });

  it('lets no text from outside control the terminal or start a line', () => {
    const { lines, log } = logged(false);
    log.info('name \u001b[2J\nfake line', { 'a\nb': 'c\u0007\nd', error: 'e\nf' });
    expect(lines[0]?.split('\n')).toHaveLength(3);
    expect(lines[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});
