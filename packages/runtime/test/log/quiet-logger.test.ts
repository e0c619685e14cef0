import { describe, expect, it } from 'vitest';
import { quietLogger } from '../../src/log/quiet-logger.ts';
import { BugError, InputError, TransientError } from '../../src/errors.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const details = { code: 'x', subject: 'y' };
const refusal = new InputError('the forge answered 401', { code: 'scm.auth', subject: 'GET /pulls' });

describe('the log of a process', () => {
  const made = (isExplained = false) => {
    const [log, clock] = [new SilentLogger(), new FakeClock()];
    return { log, clock, quiet: quietLogger(log, () => isExplained, clock) };
  };
  const levels = (log: SilentLogger) => log.entries.map(({ level }) => level);

  it('lowers what another message explains, and nothing else', () => {
    const { log, quiet } = made(true);
    quiet.warn('failed', { error: new TransientError('no', details) });
    quiet.child({ loop: 'a' }).error('failed', { error: new InputError('no', details) });
    quiet.warn('failed', { error: new Error('a defect') });
    quiet.warn('failed');
    expect(levels(log)).toEqual(['debug', 'debug', 'warn', 'warn']);
  });

  it('tells the same refusal once a minute', async () => {
    const { log, clock, quiet } = made();
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      quiet.warn('open pull requests were not listed', { source: 'fleet', attempt, error: refusal });
      await clock.advance(7_000);
    }
    expect(levels(log)).toEqual(['warn', ...Array.from({ length: 7 }, () => 'debug')]);
    await clock.advance(4_000);
    quiet.warn('open pull requests were not listed', { source: 'fleet', attempt: 9, error: refusal });
    expect(levels(log).at(-1)).toBe('warn');
  });

  it.each<[string, (quiet: ReturnType<typeof quietLogger>) => void]>([
    ['of another source', (quiet) => quiet.warn('failed', { source: 'b', error: refusal })],
    [
      'of another loop',
      (quiet) => quiet.child({ loop: 'b' }).warn('failed', { source: 'a', error: refusal }),
    ],
    ['of something else', (quiet) => quiet.warn('not read', { source: 'a', error: refusal })],
    [
      'for another reason',
      (quiet) => quiet.warn('failed', { source: 'a', error: new InputError('no', details) }),
    ],
  ])('tells a refusal %s', (_name, again) => {
    const { log, quiet } = made();
    quiet.warn('failed', { source: 'a', error: refusal });
    again(quiet);
    expect(levels(log)).toEqual(['warn', 'warn']);
  });

  it.each([new TransientError('no', details), new BugError('no', details)])(
    'tells each time what may differ each time: %o',
    (error) => {
      const { log, quiet } = made();
      quiet.warn('failed', { error });
      quiet.warn('failed', { error });
      expect(levels(log)).toEqual(['warn', 'warn']);
    },
  );
});
