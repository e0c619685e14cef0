import { beforeEach, describe, expect, it } from 'vitest';
import { ServerOutage } from '../../src/transport/server-outage.ts';
import { BugError, ConflictError, InputError, TransientError } from '@berth/runtime/errors';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const refused = new TransientError('refused', { code: 'kube.network', subject: 'GET /x' });
const details = { code: 'x', subject: 'y' };
const NOT_FOUND = { code: 'kube.notfound', subject: 'y' };
const UNAUTHORIZED = { code: 'kube.unauthorized', subject: 'GET /x' };
const busy = new TransientError('busy', { code: 'kube.internalerror', subject: 'GET /x' });

describe('an outage of an API server', () => {
  let clock: FakeClock;
  let log: SilentLogger;
  let outage: ServerOutage;
  beforeEach(() => {
    clock = new FakeClock();
    log = new SilentLogger();
    outage = new ServerOutage({ server: 'https://hub', clock, log });
  });
  const lines = () => log.entries.map(({ level, message }) => `${level} ${message}`);
  const fail = (error: unknown = refused) => outage.failed(clock.now(), error);

  it('is reported once when it begins and once when it ends, with its time', async () => {
    outage.answered(200);
    await clock.advance(1_000);
    fail();
    for (let n = 0; n < 70; n++) fail();
    await clock.advance(12_300);
    expect(outage.isOn).toBe(true);
    outage.answered(200);
    outage.answered(200);
    expect([outage.isOn, outage.explainsFailures]).toEqual([false, true]);
    await clock.advance(20_000);
    expect(outage.explainsFailures).toBe(false);
    expect(lines()).toEqual([
      'warn API server does not answer; requests are retried until it does',
      'info API server answers again',
    ]);
    expect(log.entries[1]?.fields).toEqual({ server: 'https://hub', awaySeconds: 12.3 });
  });

  it('tells those who wait when it ends, for as long as they wait', () => {
    let ends = 0;
    const forget = outage.onEnd(() => (ends += 1));
    outage.answered(200);
    fail();
    outage.answered(503);
    expect(ends).toBe(0);
    outage.answered(200);
    outage.answered(200);
    expect(ends).toBe(1);
    forget();
    fail();
    outage.answered(200);
    expect(ends).toBe(1);
  });

  it('ends with an answer that refuses, and not with one of a server that cannot work', () => {
    fail();
    outage.answered(503);
    outage.answered(500);
    expect(outage.isOn).toBe(true);
    outage.answered(403);
    expect(outage.isOn).toBe(false);
  });

  it('is none when another request was answered meanwhile', async () => {
    const sentAtMs = clock.now();
    await clock.advance(30_000);
    outage.answered(200);
    outage.failed(sentAtMs, new TransientError('slow', { code: 'kube.timeout', subject: 'GET /slow' }));
    expect(lines()).toEqual([]);
  });

  it('is none when the server answers with an error, or what is asked is wrong', () => {
    fail(busy);
    fail(new InputError('no', { code: 'kube.forbidden', subject: 'GET /x' }));
    expect(lines()).toEqual([]);
  });

  it.each([
    { name: 'a failure that may pass', error: new TransientError('no', details), want: true },
    { name: 'a lost race', error: new ConflictError('no', details), want: true },
    { name: 'a refusal of the server', error: new InputError('no', NOT_FOUND), want: true },
    { name: 'a mistake of the user', error: new InputError('no', details), want: false },
    { name: 'a defect', error: new BugError('no', details), want: false },
    { name: 'refused credentials', error: new InputError('no', UNAUTHORIZED), want: false },
  ])('explains $name: $want', ({ error, want }) => {
    expect(outage.explains(error)).toBe(false);
    fail();
    expect(outage.explains(error)).toBe(want);
  });

  it('is a problem with its time, until it ends', async () => {
    expect(outage.problem).toBeUndefined();
    fail();
    await clock.advance(7_000);
    expect(outage.problem).toBe('the API server https://hub has not answered for 7 s');
    outage.answered(200);
    expect(outage.problem).toBeUndefined();
  });
});

describe('an API server that refuses the credentials', () => {
  it('is logged once a minute, and explains what fails because of it until another answer comes', async () => {
    const [clock, log] = [new FakeClock(), new SilentLogger()];
    const outage = new ServerOutage({ server: 'https://hub', clock, log });
    const error = new InputError('no', UNAUTHORIZED);
    // The first answer of 401 may be due to credentials that have changed.
    outage.answered(401);
    expect(outage.explains(error)).toBe(false);
    for (let n = 0; n < 8; n++) {
      outage.answered(401);
      outage.refused();
      expect(outage.explains(error)).toBe(true);
    }
    expect(log.entries).toMatchObject([
      { level: 'warn', message: 'API server refuses the credentials; requests are retried' },
    ]);
    expect(outage.problem).toBe('the API server https://hub refuses the credentials');
    await clock.advance(60_000);
    outage.refused();
    expect(log.entries).toHaveLength(2);
    outage.answered(403);
    expect([outage.explains(error), outage.problem]).toEqual([false, undefined]);
  });
});
