import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { OCM_HUB } from '../../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { makeCliIo } from '../cli-harness.ts';
import { baseFiles, namespace, placement, replicaSet, yaml } from './fleet-fixture.ts';

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly awaySeconds?: number;
  readonly listen?: string;
}

describe('what is logged while the hub is away', () => {
  let dir: string;
  let hub: RunningHub;
  let git: GitFixture;
  const ends: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-outage-'));
    hub = await startHub({ ...OCM_HUB, dataDir: join(dir, 'hub') });
    git = new GitFixture();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await hub.close();
    git.remove();
    rmSync(dir, { recursive: true, force: true });
  });

  function run(...args: string[]): { lines: () => LogLine[] } {
    const [stop, cutOff] = [new AbortController(), new AbortController()];
    const { io, stderr } = makeCliIo({ signal: stop.signal, cutOff: cutOff.signal });
    const done = runCli(args, io);
    ends.push(async () => {
      stop.abort();
      return done;
    });
    const lines = (): LogLine[] =>
      stderr()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as LogLine);
    return { lines };
  }

  async function outage(
    lines: () => LogLine[],
    isOver: (since: LogLine[]) => boolean,
    whileAway = (): Promise<void> => Promise.resolve(),
  ): Promise<LogLine[]> {
    // fixed wait: a write that the end of the hub cuts off is logged, and nothing shows the last one
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const before = lines().length;
    const { port } = hub;
    await hub.close();
    const isAway = () =>
      lines()
        .slice(before)
        .some(({ msg }) => told[0]?.endsWith(msg) === true);
    await expect.poll(isAway, { timeout: OUTAGE_PATIENCE_MS }).toBe(true);
    await whileAway();
    // fixed wait: long enough that everything that follows the hub has failed several times
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    hub = await startHub({ ...OCM_HUB, dataDir: join(dir, 'hub'), listen: { port } });
    await expect.poll(() => isOver(lines().slice(before)), { timeout: OUTAGE_PATIENCE_MS }).toBe(true);
    return lines().slice(before);
  }

  const told = [
    'warn API server does not answer; requests are retried until it does',
    'info API server answers again',
  ];
  const texts = (lines: readonly LogLine[]) => lines.map(({ level, msg }) => `${level} ${msg}`);

  it('berth serve says once that it is away, and once that it is back, with the time', async () => {
    const tokens = join(dir, 'tokens');
    writeFileSync(tokens, 'a-token-of-this-test\n', { mode: 0o600 });
    git.commit({
      ...baseFiles,
      'namespaces.yaml': yaml(...['c1', 'c2', 'c3'].map(namespace)),
      'web.yaml': yaml(placement('web'), replicaSet),
    });
    const { lines } = run(
      ...['serve', '--repo', `fleet=${git.path}`, '--kubeconfig', hub.adminKubeconfigPath],
      ...['--data', join(dir, 'data'), '--embedded', '--leader-elect', '--poll', '1s'],
      ...['--listen', '127.0.0.1:0', '--token-file', tokens],
    );
    const url = () => lines().find(({ listen }) => listen !== undefined)?.listen ?? '';
    const readyz = async () => (await fetch(`${url()}/readyz`)).text();
    const status = async () => {
      const { io, stdout } = makeCliIo({});
      return {
        code: await runCli(['status', '--server', url(), '--token-file', tokens], io),
        text: stdout(),
      };
    };
    const has = (text: string) => lines().some(({ msg }) => msg === text);
    await expect.poll(() => has('everything was read and published once')).toBe(true);
    await expect.poll(() => lines().filter(({ msg }) => msg === 'work written').length).toBeGreaterThan(2);
    expect(await readyz()).not.toContain('hub');
    // Git has no new commit while the hub is away.
    const whileAway = async (): Promise<void> => {
      expect(await readyz()).toMatch(/^ok\n(.*\n)*the hub cannot be read or written: see berth status$/m);
      expect(await status()).toMatchObject({
        code: 1,
        text: expect.stringMatching(
          /^Warning: hub: the API server http\S+ has not answered for \d+ s;/m,
        ) as string,
      });
    };
    // Its own next commit shows that it works again.
    let isBack = false;
    const isOver = (now: LogLine[]): boolean => {
      if (!isBack && now.some(({ awaySeconds }) => awaySeconds !== undefined)) {
        isBack = true;
        git.commit({ 'other.yaml': yaml(placement('other')) });
      }
      return now.some(({ msg }) => msg === 'decision published');
    };
    const since = await outage(lines, isOver, whileAway);
    expect(await readyz()).not.toContain('hub');
    expect(texts(since).filter((text) => text.startsWith('warn') || text.includes('API server'))).toEqual(
      told,
    );
    expect(since.find(({ awaySeconds }) => awaySeconds !== undefined)?.awaySeconds).toBeGreaterThan(3);
  });

  it('so does berth agent', async () => {
    const { lines } = run(
      ...['agent', '--hub-kubeconfig', hub.adminKubeconfigPath, '--kubeconfig', hub.adminKubeconfigPath],
      ...['--cluster-name', 'c1'],
    );
    await expect.poll(() => texts(lines())).toContain('info works and applied works were listed');
    expect(texts(await outage(lines, (now) => now.length >= 2))).toEqual(told);
  });
});
