import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '@berth/runtime/errors';
import type { SourceContent } from '../../../../src/controllers/sources/manifests/source-content.ts';
import type { GitSources } from '../../../../src/controllers/sources/reading/git-source.ts';
import type { ControllerEventBody } from '../../../../src/controllers/events/controller-events.ts';
import {
  RepositoryLoop,
  type RepositoryLoopOptions,
} from '../../../../src/controllers/sources/following/repository-loop.ts';
import type { HubSync } from '../../../../src/controllers/sources/following/hub-sync.ts';
import type { SyncOptions } from '../../../../src/controllers/sources/members/sync-problem.ts';
import { SteeredLeadership } from '../../../fakes/steered-leadership.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const HOUR_MS = 3_600_000;
const POLL_MS = 60_000;
const RESYNC_MS = 180_000;

/** A repository whose remote is a variable; what is counted is how often it is asked. */
class ScriptedRepository implements Pick<GitSources, 'fetch' | 'last' | 'read'> {
  asked = 0;
  tip = 'a';
  failure: Error | undefined;
  lastFollowed: string | undefined;

  fetch: GitSources['fetch'] = async ({ onObjectsReceived } = {}) => {
    this.asked += 1;
    if (this.failure !== undefined) throw this.failure;
    onObjectsReceived?.();
    return { commit: this.tip, changed: true };
  };
  last = async () => this.lastFollowed;
  settle = async (): Promise<void> => undefined;
  read = async (commit?: string): Promise<readonly SourceContent[]> => {
    const person = { name: 'Ada', email: '', timeMs: 0 };
    return [
      {
        commit: {
          id: commit ?? '',
          tree: '',
          parents: [],
          author: person,
          committer: person,
          subject: '',
          signed: false,
        },
        objects: [],
        problems: [],
        files: 0,
        complete: true,
        textOf: async () => undefined,
      },
    ];
  };
}

/** A way to the hub on which `sync` decides how each round ends. */
function scripted(script: {
  readonly isComplete: boolean;
  readonly sync: (content: SourceContent, options: SyncOptions) => Promise<unknown>;
  readonly declare?: (content: SourceContent) => void;
  readonly namespaceArrives?: HubSync['namespaceArrives'];
}): HubSync {
  const sync = {
    begin: async (content: SourceContent, options: SyncOptions) => ({
      source: 'fleet',
      objects: [],
      prune: () => script.sync(content, options),
    }),
    declare: (content: SourceContent) => script.declare?.(content),
    get isComplete() {
      return script.isComplete;
    },
    namespaceArrives: script.namespaceArrives,
  };
  return sync as unknown as HubSync;
}

describe('the loop of a repository', () => {
  let clock: FakeClock;
  let source: ScriptedRepository;
  let options: RepositoryLoopOptions;
  let loop: RepositoryLoop;
  let stop: AbortController;
  let running: Promise<void>;
  let happened: ControllerEventBody[];
  beforeEach(() => {
    [clock, source, stop, happened] = [new FakeClock(), new ScriptedRepository(), new AbortController(), []];
    options = {
      url: '/srv/fleet',
      repository: source as unknown as GitSources,
      sources: [{ name: 'fleet', sync: undefined }],
      clock,
      random: () => 0.5,
      log: new SilentLogger(),
      emit: (happening) => happened.push(happening),
      pollIntervalMs: POLL_MS,
      resyncIntervalMs: RESYNC_MS,
      emitSource: () => undefined,
    };
    loop = new RepositoryLoop(options);
    running = loop.run(stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });
  const commitsRead = () =>
    happened.flatMap((happening) => (happening.kind === 'commit-read' ? [happening.commit?.id] : []));

  it.each([
    ['forward', 5 * HOUR_MS],
    ['back', -5 * HOUR_MS],
    ['back beyond the epoch', -60 * 365 * 24 * HOUR_MS],
  ])('goes on asking at its interval when the clock jumps %s', async (_name, byMs) => {
    await clock.advance(1);
    expect(source.asked).toBe(1);
    clock.jump(byMs);
    source.tip = 'b';
    await clock.advance(POLL_MS + 1);
    expect(source.asked).toBe(2);
    await clock.advance(10 * POLL_MS);
    expect(source.asked).toBe(12);
    expect(commitsRead()).toEqual(['a', 'b']);
  });

  it('reads and says what the source says, but follows nothing while it may not write; does so at once when it may', async () => {
    stop.abort();
    await running;
    stop = new AbortController();
    const leadership = new SteeredLeadership();
    const done: string[] = [];
    const outcome = { applied: 0, unchanged: 0, pruned: 0, problems: [], pruneHeld: undefined, unlisted: [] };
    const sync = {
      isComplete: false,
      declare: ({ commit }: SourceContent) => void done.push(`declare ${commit?.id}`),
      sync: async ({ commit }: SourceContent) => {
        done.push(`sync ${commit?.id}`);
        return outcome;
      },
    };
    loop = new RepositoryLoop({ ...options, sources: [{ name: 'fleet', sync: scripted(sync) }], leadership });
    running = loop.run(stop.signal);
    await clock.advance(1);
    source.tip = 'b';
    await clock.advance(POLL_MS + 1);
    expect(done.splice(0)).toEqual(['declare a', 'declare b']);
    expect(commitsRead().slice(-1)).toEqual(['b']);
    leadership.take();
    await clock.advance(1);
    expect(done.splice(0)).toEqual(['declare b', 'sync b']);
    // The hub is away: a commit that comes meanwhile does not wait for the next look.
    leadership.lapse();
    source.tip = 'c';
    loop.fetch();
    await clock.advance(1);
    leadership.renew();
    await clock.advance(1);
    expect(done).toEqual(['declare c', 'declare c', 'sync c']);
    await clock.advance(1);
    expect(source.asked).toBe(6);
  });

  it('tells each step of the way of a commit, and the end of it also when it failed', async () => {
    stop.abort();
    await running;
    stop = new AbortController();
    const told: string[] = [];
    loop = new RepositoryLoop({
      ...options,
      emitSource: ({ kind, source: name }) => void told.push(`${name} ${kind}`),
    });
    running = loop.run(stop.signal);
    await clock.advance(1);
    const way = ['fetching', 'fetched', 'read', 'checked', 'followed'];
    expect(told.splice(0)).toEqual(way.map((kind) => `fleet ${kind}`));
    source.read = () => Promise.reject(new TransientError('gone', { code: 'git.failed', subject: 'mirror' }));
    source.tip = 'b';
    await clock.advance(POLL_MS);
    const failedWay = ['fetching', 'fetched', 'unread', 'followed', 'failed'];
    expect(told).toEqual(failedWay.map((kind) => `fleet ${kind}`));
  });

  it('jumping clocks do not shorten the wait after failures', async () => {
    source.failure = new TransientError('gone', { code: 'git.failed', subject: 'remote' });
    await clock.advance(1);
    for (let at = 0; at < 20; at++) {
      clock.jump(at % 2 === 0 ? HOUR_MS : -HOUR_MS);
      await clock.advance(POLL_MS);
    }
    // Backing off from a second to the poll's interval, and not faster for all the jumps.
    expect(source.asked).toBeLessThan(30);
    // The first time it was still there.
    expect(happened.filter(({ kind }) => kind === 'error')).toHaveLength(source.asked - 1);
    source.failure = undefined;
    await clock.advance(2 * POLL_MS);
    expect(commitsRead()).toEqual(['a']);
  });

  it('reads the last commit that was followed while the remote is gone, and the newest once it is back', async () => {
    stop.abort();
    await running;
    stop = new AbortController();
    happened.splice(0);
    source.failure = new TransientError('gone', { code: 'git.failed', subject: 'remote' });
    source.lastFollowed = 'before';
    loop = new RepositoryLoop(options);
    running = loop.run(stop.signal);
    await clock.advance(1);
    expect(commitsRead()).toEqual(['before']);
    expect(loop.status()[0]).toMatchObject({ lastError: source.failure, lastSuccessAtMs: undefined });
    source.failure = undefined;
    await clock.advance(POLL_MS);
    expect(commitsRead()).toEqual(['before', 'a']);
    expect(loop.status()[0]).toMatchObject({ lastError: undefined });
  });

  it('asks at once when told, however the clock jumps', async () => {
    await clock.advance(1);
    clock.jump(-HOUR_MS);
    source.tip = 'b';
    loop.fetch();
    await clock.advance(1);
    expect(commitsRead()).toEqual(['a', 'b']);
  });

  it('lets the hub follow a commit before it compares everything, when that is due too', async () => {
    stop.abort();
    await running;
    stop = new AbortController();
    const compared: (boolean | undefined)[] = [];
    const sync = {
      isComplete: false,
      sync: async (_fleet: SourceContent, { compare }: SyncOptions) => {
        compared.push(compare);
        sync.isComplete = true;
        return { applied: 0, unchanged: 0, pruned: 0, problems: [], pruneHeld: undefined, unlisted: [] };
      },
    };
    running = new RepositoryLoop({ ...options, sources: [{ name: 'fleet', sync: scripted(sync) }] }).run(
      stop.signal,
    );
    const next = async (tip: string, byMs: number): Promise<(boolean | undefined)[]> => {
      source.tip = tip;
      await clock.advance(byMs);
      return compared.splice(0);
    };
    expect(await next('a', 1)).toEqual([true]);
    expect(await next('b', POLL_MS)).toEqual([false]);
    expect(await next('b', RESYNC_MS - 2 * POLL_MS)).toEqual([]);
    expect(await next('c', POLL_MS)).toEqual([false, true]);
    expect(await next('c', RESYNC_MS)).toEqual([true]);
  });

  it('tells at once what it read, and checks and compares it after the first publication', async () => {
    stop.abort();
    await running;
    [stop, happened] = [new AbortController(), []];
    const told: string[] = [];
    const problem = { severity: 'error', code: 'x', message: 'means nothing' } as const;
    let publish = (): void => undefined;
    const published = new Promise<void>((resolve) => (publish = resolve));
    const sync = {
      isComplete: false,
      sync: async ({ commit }: SourceContent) => {
        told.push(`follow ${commit?.id}`);
        return { applied: 0, unchanged: 0, pruned: 0, problems: [], pruneHeld: undefined, unlisted: [] };
      },
    };
    loop = new RepositoryLoop({
      ...options,
      emit: ({ kind }) => void told.push(kind),
      sources: [{ name: 'fleet', sync: scripted(sync) }],
      emitSource: (event) => {
        if (!('content' in event)) return;
        const { commit, problems } = event.content;
        told.push(`${event.kind} ${commit?.id} ${problems.length}`);
      },
      check: async () => [[problem]],
      whenFirstPublished: () => {
        told.push('waits');
        return published;
      },
    });
    running = loop.run(stop.signal);
    await clock.advance(POLL_MS);
    expect(told.splice(0)).toEqual(['read a 0', 'waits']);
    expect(loop.status()[0]?.content?.commit?.id).toBe('a');
    publish();
    await clock.advance(1);
    expect(told.splice(0)).toEqual(['commit-read', 'checked a 1', 'follow a', 'synced']);
    expect(loop.status()[0]?.content?.problems).toEqual([problem]);
    source.tip = 'b';
    await clock.advance(POLL_MS + 1);
    expect(told.splice(0)).toEqual(['read b 0', 'commit-read', 'checked b 1', 'follow b', 'synced']);
  });

  it('that is stopped before the first publication neither checks nor follows', async () => {
    stop.abort();
    await running;
    [stop, happened] = [new AbortController(), []];
    const whenFirstPublished = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    let checks = 0;
    const check = async () => (checks++, []);
    running = new RepositoryLoop({ ...options, whenFirstPublished, check }).run(stop.signal);
    await clock.advance(1);
    stop.abort();
    await running;
    expect(checks).toBe(0);
    expect(happened).toEqual([]);
  });

  it('compares everything when somebody asks, and not for a webhook', async () => {
    stop.abort();
    await running;
    stop = new AbortController();
    const compared: (boolean | undefined)[] = [];
    let failing = false;
    const sync = {
      isComplete: true,
      sync: async (_fleet: SourceContent, { compare }: SyncOptions) => {
        compared.push(compare);
        if (failing) throw new TransientError('busy', { code: 'kube.busy', subject: 'hub' });
        return { applied: 0, unchanged: 0, pruned: 0, problems: [], pruneHeld: undefined, unlisted: [] };
      },
    };
    loop = new RepositoryLoop({ ...options, sources: [{ name: 'fleet', sync: scripted(sync) }] });
    running = loop.run(stop.signal);
    const after = async (ask: () => void, byMs = 1): Promise<(boolean | undefined)[]> => {
      ask();
      await clock.advance(byMs);
      return compared.splice(0);
    };
    expect(await after(() => undefined)).toEqual([false, true]);
    expect(await after(() => loop.fetch())).toEqual([]);
    expect(await after(() => loop.reconcile())).toEqual([true]);
    expect(await after(() => undefined, POLL_MS)).toEqual([]);
    failing = true;
    expect(await after(() => loop.reconcile())).toEqual([true]);
    failing = false;
    // What was asked for and failed is still owed, once.
    expect(await after(() => undefined, 2_000)).toEqual([true]);
    expect(await after(() => undefined, POLL_MS)).toEqual([]);
  });

  it('tries again within seconds, and when the namespace comes, where only a namespace is missing', async () => {
    stop.abort();
    await running;
    [stop, happened] = [new AbortController(), []];
    const triedAtMs: number[] = [];
    const problem = (name: string) => ({
      object: `Placement ${name}/web`,
      message: 'not found',
      location: undefined,
      retry: true,
      missingNamespace: name,
    });
    let problems = [problem('team')];
    let arrive = (): void => undefined;
    const sync = {
      isComplete: false,
      sync: async () => {
        triedAtMs.push(clock.now() - startedAtMs);
        return { applied: 0, unchanged: 0, pruned: 0, problems, pruneHeld: undefined, unlisted: [] };
      },
      namespaceArrives: async (names: readonly string[], signal: AbortSignal) => {
        expect(names).toEqual(problems.map(({ missingNamespace }) => missingNamespace));
        await new Promise<void>((resolve) => {
          arrive = resolve;
          signal.addEventListener('abort', () => resolve());
        });
      },
    };
    const startedAtMs = clock.now();
    loop = new RepositoryLoop({ ...options, sources: [{ name: 'fleet', sync: scripted(sync) }] });
    running = loop.run(stop.signal);
    for (let second = 0; second < 30; second++) await clock.advance(1_000);
    // 1, 2, 4, … s, a quarter less with this chance.
    expect(triedAtMs.length).toBeGreaterThanOrEqual(5);
    expect(happened.filter(({ kind }) => kind === 'sync-problem')).toHaveLength(1);
    const before = triedAtMs.length;
    arrive();
    await clock.advance(1);
    expect(triedAtMs).toHaveLength(before + 1);
    // Another namespace is another wait.
    problems = [problem('other')];
    arrive();
    await clock.advance(1);
    const other = triedAtMs.length;
    await clock.advance(1_000);
    expect(triedAtMs.length).toBeGreaterThan(other);
    problems = [];
    arrive();
    await clock.advance(1);
    const done = triedAtMs.length;
    await clock.advance(POLL_MS);
    expect(triedAtMs).toHaveLength(done);
  });

  it.each([
    [undefined, 'refs/heads/any', true],
    [{ type: 'branch', name: 'main' }, 'refs/heads/main', true],
    [{ type: 'branch', name: 'main' }, 'refs/heads/main2', false],
    [{ type: 'branch', name: 'main' }, 'refs/tags/main', false],
    [{ type: 'tag', name: 'v1' }, 'refs/tags/v1', true],
    [{ type: 'tag', name: 'v1' }, 'refs/heads/v1', false],
    [{ type: 'semver', range: '^1' }, 'refs/tags/v1.2.3', true],
    [{ type: 'semver', range: '^1' }, 'refs/heads/main', false],
    [{ type: 'head' }, 'refs/heads/any', true],
    [{ type: 'head' }, 'refs/tags/v1', false],
    [{ type: 'commit', id: 'a'.repeat(40) }, 'refs/heads/any', true],
  ] as const)('following %o, a push to %s concerns it: %s', (ref, pushed, want) => {
    expect(new RepositoryLoop({ ...options, ref }).concerns(pushed)).toBe(want);
  });
});

describe('the loop of a repository with two sources', () => {
  const rounds: string[] = [];
  let clock: FakeClock;
  let repository: ScriptedRepository;
  let stop: AbortController;
  let running: Promise<void>;
  let happened: ControllerEventBody[];
  let isBroken: boolean;
  const follow = (name: string): HubSync => {
    const begin = async (content: SourceContent) => {
      rounds.push(`begin ${name}`);
      if (isBroken && name === 'apps')
        throw new TransientError('busy', { code: 'kube.busy', subject: 'hub' });
      return {
        source: name,
        objects: content.objects,
        apply: async () => void rounds.push(`apply ${name}`),
        prune: async () => {
          rounds.push(`prune ${name}`);
          return { applied: 1, unchanged: 0, pruned: 0, problems: [], pruneHeld: undefined, unlisted: [] };
        },
      };
    };
    const declare = (content: SourceContent) => void rounds.push(`declare ${name} ${content.commit?.id}`);
    return { begin, declare, isComplete: false } as unknown as HubSync;
  };
  const objectIn = (name: string) => ({
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
    location: { file: `${name}.yaml`, line: 1, column: 1 },
  });
  beforeEach(() => {
    [clock, repository, stop, happened, isBroken] = [
      new FakeClock(),
      new ScriptedRepository(),
      new AbortController(),
      [],
      false,
    ];
    rounds.splice(0);
    const { read } = repository;
    repository.read = async (commit) => {
      const [content] = await read(commit);
      return ['fleet', 'apps'].map((name) => ({ ...content, objects: [objectIn(name)] }) as never);
    };
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });
  const run = (check?: RepositoryLoopOptions['check']): RepositoryLoop => {
    const loop = new RepositoryLoop({
      url: '/srv/fleet',
      repository: repository as unknown as GitSources,
      sources: ['fleet', 'apps'].map((name) => ({ name, sync: follow(name) })),
      clock,
      random: () => 0.5,
      log: new SilentLogger(),
      emit: (event) => happened.push(event),
      pollIntervalMs: POLL_MS,
      resyncIntervalMs: RESYNC_MS,
      emitSource: ({ kind, source }) => void rounds.push(`${kind} ${source}`),
      check,
    });
    running = loop.run(stop.signal);
    return loop;
  };

  it('fetches once, and reads, checks, applies and judges both at one commit', async () => {
    const checked: (readonly (string | undefined)[])[] = [];
    run(async (contents) => {
      checked.push(contents.map(({ objects }) => objects[0]?.object.metadata.name));
      return contents.map(() => []);
    });
    await clock.advance(1);
    expect([repository.asked, checked]).toEqual([1, [['fleet', 'apps']]]);
    const both = (kind: string) => [`${kind} fleet`, `${kind} apps`];
    expect(rounds).toEqual([
      ...both('fetching'),
      ...both('fetched'),
      ...both('read'),
      ...both('checked'),
      ...['declare fleet a', 'declare apps a'],
      ...both('following'),
      ...both('begin'),
      ...both('apply'),
      ...both('prune'),
      ...both('complete'),
      ...both('followed'),
    ]);
  });

  it('follows one although the hub cannot be read for the other, and tries that one again', async () => {
    isBroken = true;
    const loop = run();
    await clock.advance(1);
    expect(rounds).toContain('complete fleet');
    expect(loop.status().map(({ lastError }) => lastError === undefined)).toEqual([true, false]);
    expect(happened).toContainEqual(expect.objectContaining({ kind: 'error', where: 'source apps' }));
    isBroken = false;
    await clock.advance(2_000);
    expect(rounds).toContain('complete apps');
    expect(loop.status().map(({ lastError }) => lastError)).toEqual([undefined, undefined]);
  });
});
