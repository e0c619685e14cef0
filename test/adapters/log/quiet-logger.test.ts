import { describe, expect, it } from 'vitest';
import { quietLogger } from '../../../src/adapters/log/quiet-logger.ts';
import { BugError, ConflictError, InputError, TransientError } from '../../../src/core/errors.ts';
import { SilentLogger } from '../../fakes/silent-logger.ts';

const details = { code: 'x', subject: 'y' };

describe('the log of a process whose server is away', () => {
  it.each([
    { name: 'a failure that may pass', error: new TransientError('no', details), want: 'debug' },
    { name: 'a lost race', error: new ConflictError('no', details), want: 'debug' },
    {
      name: 'a refusal of the server',
      error: new InputError('no', { code: 'kube.notfound', subject: 'y' }),
      want: 'debug',
    },
    { name: 'a mistake of the user', error: new InputError('no', details), want: 'warn' },
    { name: 'a defect', error: new BugError('no', details), want: 'warn' },
    { name: 'no error', error: undefined, want: 'warn' },
  ])('says $name at the level $want, and loudly when the server is there', ({ error, want }) => {
    const log = new SilentLogger();
    let isAway = true;
    const quiet = quietLogger(log, () => isAway).child({ loop: 'a' });
    quiet.warn('failed', { error });
    isAway = false;
    quiet.warn('failed', { error });
    quiet.error('failed', { error });
    expect(log.entries.map(({ level }) => level)).toEqual([want, 'warn', 'error']);
  });
});
