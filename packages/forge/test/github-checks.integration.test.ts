import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitHubApp } from '../src/github-like/github-app.ts';
import { openForge } from '../src/open-forge.ts';
import type { CommitStatus, PullRequestForge, StatusAnnotation } from '../src/contract/pull-request-forge.ts';
import { GitHubFake } from './fakes/forges/github-fake.ts';

const HEAD = 'a'.repeat(40);
const signal = new AbortController().signal;
const annotations = (count: number): readonly StatusAnnotation[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ file: 'web.yaml', line: at + 1, level: 'warning', title: 'schema.type', message: `remark ${at}` },
  }));
const status = (over: Partial<CommitStatus> = {}): CommitStatus => ({
  ...{ commit: HEAD, state: 'success', description: 'All is well', context: 'berth/preview/fleet' },
  ...over,
});

describe('check runs of a GitHub App', () => {
  const server = new GitHubFake();
  let forge: PullRequestForge;
  const open = (account = 'berth[bot]'): PullRequestForge =>
    openForge(
      { provider: 'github', apiUrl: server.apiUrl, repository: 'team/fleet', token: async () => 't' },
      async () => account,
    );
  beforeEach(async () => {
    server.checkRuns.length = 0;
    server.statuses.length = 0;
    server.lacks.clear();
    server.fault = () => undefined;
    await server.start();
    forge = open();
  });
  afterEach(() => server.close());
  const writes = () =>
    server.seen.filter(({ method }) => method !== 'GET').map(({ method, url }) => [method, url]);

  it('go from pending to a conclusion, with a summary and a link', async () => {
    await forge.writeStatus(status({ state: 'pending', description: 'Planning' }), signal);
    expect(server.checkRuns).toMatchObject([{ commit: HEAD, status: 'in_progress', title: 'Planning' }]);
    await forge.writeStatus(status({ state: 'pending', description: 'Planning' }), signal);
    const report = { conclusion: 'action-required', summary: '### Would be held', annotations: [] } as const;
    await forge.writeStatus(
      status({ state: 'failure', report, targetUrl: 'https://berth.example/7' }),
      signal,
    );
    expect(server.checkRuns).toMatchObject([
      {
        status: 'completed',
        conclusion: 'action_required',
        title: 'All is well',
        summary: '### Would be held',
      },
    ]);
    expect(server.seen.at(-1)?.body).toMatchObject({ details_url: 'https://berth.example/7' });
  });

  it.each([
    [0, [0]],
    [50, [50]],
    [120, [50, 50, 20]],
  ])('write %i remarks in requests of %j, and are done with the last', async (count, sizes) => {
    const report = { conclusion: 'failure', summary: 's', annotations: annotations(count) } as const;
    await forge.writeStatus(status({ state: 'failure', report }), signal);
    const bodies = server.seen.flatMap(({ method, body }) =>
      method === 'GET' ? [] : [body as { status: string; output: { annotations: unknown[] } }],
    );
    expect(bodies.map(({ output }) => output.annotations.length)).toEqual(sizes);
    expect(bodies.map(({ status: one }) => one).indexOf('completed')).toBe(bodies.length - 1);
    expect(server.checkRuns).toHaveLength(1);
    expect(server.checkRuns[0]?.annotations.map(({ start_line: line }) => line)).toEqual(
      annotations(count).map(({ line }) => line),
    );
  });

  it('begin again for another plan of the same commit: remarks cannot be taken back', async () => {
    const report = { conclusion: 'failure', summary: 's', annotations: annotations(3) } as const;
    await forge.writeStatus(status({ state: 'failure', report }), signal);
    await forge.writeStatus(
      status({ state: 'failure', report: { ...report, annotations: annotations(1) } }),
      signal,
    );
    expect(server.checkRuns.map((run) => run.annotations.length)).toEqual([3, 1]);
  });

  it('go on with one that an earlier process began', async () => {
    await forge.writeStatus(status({ state: 'pending' }), signal);
    await open().writeStatus(status(), signal);
    expect(server.checkRuns).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
  });

  it('are cut to what GitHub takes', async () => {
    const long = 's'.repeat(100_000);
    const remarks = annotations(1).map((one) => ({ ...one, title: long, message: long }));
    const report = { conclusion: 'success', summary: long, annotations: remarks } as const;
    await forge.writeStatus(status({ report }), signal);
    expect(server.checkRuns[0]?.summary.length).toBe(60_000);
    const [remark] = server.checkRuns[0]?.annotations ?? [];
    expect([String(remark?.['title']).length, String(remark?.['message']).length]).toEqual([255, 16_000]);
  });

  it('are commit statuses where the app may write no checks, and for a token', async () => {
    server.fault = ({ url }) => (url?.includes('check-runs') ? { status: 403 } : undefined);
    await forge.writeStatus(status(), signal);
    await forge.writeStatus(status({ context: 'berth/rule/fleet/few' }), signal);
    expect(writes().filter(([, url]) => url?.includes('/statuses/'))).toHaveLength(2);
    expect(server.seen.filter(({ url }) => url?.includes('check-runs'))).toHaveLength(1);
    await open('ada').writeStatus(status(), signal);
    expect(server.checkRuns).toEqual([]);
  });

  it('wait while GitHub answers 5xx instead of turning into commit statuses', async () => {
    server.fault = ({ url }) => (url?.includes('check-runs') ? { status: 502 } : undefined);
    await expect(forge.writeStatus(status(), signal)).rejects.toMatchObject({ name: 'TransientError' });
    server.fault = () => undefined;
    await forge.writeStatus(status(), signal);
    expect(server.checkRuns).toHaveLength(1);
  });

  it('are written with tokens that are renewed, in the name of the app', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    let tokens = 0;
    server.fault = ({ url, authorization }) => {
      if (url === '/app') return { status: 200, body: { slug: 'berth' } };
      if (url?.endsWith('/access_tokens'))
        return { status: 201, body: { token: `t${++tokens}`, expires_at: '2026-03-01T13:00:00Z' } };
      return authorization === 'Bearer t1' ? { status: 401 } : undefined;
    };
    const nowMs = (): number => Date.parse('2026-03-01T12:00:00Z');
    const { apiUrl } = server;
    const app = new GitHubApp({
      appId: '1',
      installationId: '2',
      privateKey: async () => key,
      apiUrl,
      nowMs,
    });
    const access = { token: () => app.token(), onRefused: () => app.forget() };
    const ofApp = openForge({ provider: 'github', apiUrl, repository: 'team/fleet', ...access }, () =>
      app.account(),
    );
    await ofApp.writeStatus(status(), signal);
    expect(server.checkRuns).toMatchObject([{ conclusion: 'success' }]);
    expect(tokens).toBe(2);
    server.write(7, 'berth[bot]', 'mark');
    server.write(7, 'berth', 'mark');
    expect(await ofApp.ownComments(7, 'mark', signal)).toHaveLength(1);
  });

  it('fold what is out of date, and take words for rights that are not ours', async () => {
    const id = await forge.addComment(7, 'mark', signal);
    await forge.retireComment(7, id, signal);
    expect(server.comments.at(-1)).toMatchObject({ folded: true });
    server.permissions.set('ada', 'owner' as never).set('eve', 'something new' as never);
    expect(await forge.permissionOf('ada', signal)).toBe('admin');
    expect(await forge.permissionOf('eve', signal)).toBe('none');
  });
});
