import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log/pino-logger.ts';
import type { ControllerEvent } from '../../../src/controllers/events/controller-events.ts';
import { logEvent } from '../../../src/app/serve/log-event.ts';

function logged(event: ControllerEvent): unknown {
  const lines: string[] = [];
  logEvent(createLogger({ level: 'debug', stream: { write: (line) => void lines.push(line) } }), event);
  return JSON.parse(lines.join(''));
}

describe('the log', () => {
  const code = '0123456789ab';

  it('says which plan is held: a person who reads it may release that plan', () => {
    const held = {
      atMs: 0,
      kind: 'held',
      placement: 'team/web',
      reason: 'Misconfigured',
      token: code,
      isKnown: false,
    } as const;
    expect(logged({ ...held, message: 'would be empty' })).toMatchObject({
      level: 'warn',
      placement: 'team/web',
      plan: code,
      explanation: 'would be empty',
    });
  });

  it('says which plan was released, and by whom', () => {
    const synced = { atMs: 0, kind: 'synced', source: 'fleet', applied: 0, pruned: 3, unchanged: 1 } as const;
    expect(logged({ ...synced, released: { token: code, by: 'Ada' } })).toMatchObject({
      source: 'fleet',
      pruned: 3,
      released: { plan: code, by: 'Ada' },
    });
  });

  it.each([
    { isHeld: true, msg: 'deletions held; the objects stay on the hub', object: undefined },
    { isHeld: undefined, msg: 'object not synced', object: 'source fleet' },
  ] as const)('tells a held deletion from an object that is not synced: $msg', ({ isHeld, msg, object }) => {
    const problem = { atMs: 0, kind: 'sync-problem', source: 'fleet', object: 'source fleet' } as const;
    const line = logged({ ...problem, message: 'release it', ...(isHeld && { isHeld }) });
    expect(line).toMatchObject({ level: 'warn', source: 'fleet', msg, explanation: 'release it' });
    expect((line as { readonly object?: string }).object).toBe(object);
  });

  it.each([
    [[], true, 'info', 'everything was read and published once'],
    [[], false, 'info', 'everything was read once; another process publishes'],
    [
      ['source a could not be read'],
      true,
      'warn',
      'the start is over, but not everything was read and published',
    ],
  ] as const)('says what the start achieved: missing %j, publishes %s', (missing, publishes, level, msg) => {
    expect(logged({ atMs: 0, kind: 'ready', missing, publishes })).toMatchObject({
      level,
      msg,
      ...(missing.length > 0 && { missing }),
    });
  });

  it('says which object stays on the hub, and why', () => {
    const object = 'ManagedCluster c1';
    const because = 'is registered, and its agent works';
    expect(logged({ atMs: 0, kind: 'withdrawn', source: 'fleet', object, because })).toMatchObject({
      level: 'info',
      msg: 'object left Git and stays on the hub, without what Git applied',
      object,
      because: `it ${because}`,
    });
  });

  it('hides what is called a token', () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } });
    log.info('asked', { token: 'secret', auth: { token: 'secret' } });
    expect(lines.join('')).not.toContain('secret');
  });
});
