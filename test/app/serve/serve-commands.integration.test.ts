import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { runCli } from '../../../src/app/cli/program.ts';
import { type RunningController, serveController } from '../../../src/app/serve/serve-controller.ts';
import { PLACEMENT } from '@berth/kube/model/kinds';
import type { Placement } from '@berth/ocm/kind/placement';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { makeCliIo } from '../cli-harness.ts';
import { baseFiles, placement, retired, yaml } from './fleet-fixture.ts';

describe('commands around a running controller', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  let git: GitFixture;
  let dataDir: string;
  let fleet: RunningController;
  let tokenFile: string;

  beforeAll(async () => {
    hub = await startEmbeddedHub();
    git = new GitFixture();
    dataDir = mkdtempSync(join(tmpdir(), 'berth-serve-'));
    tokenFile = join(dataDir, 'tokens');
    writeFileSync(tokenFile, 'a-token-of-this-test\n');
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) }, 'First');
    fleet = await serveController({
      api: hub.api,
      sources: [{ url: git.path }],
      dataDir,
      clock: systemClock,
      log: new SilentLogger(),
      random: Math.random,
      engineVersion: 'test',
      env: process.env,
      embedded: true,
      pollIntervalMs: 60_000,
      http: { host: '127.0.0.1', port: 0, tokenFile },
    });
    await heldTo(false);
  });
  afterAll(async () => {
    await fleet.close();
    await hub.close();
    git.remove();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function berth(...args: string[]) {
    const { io, stdout, stderr } = makeCliIo();
    const code = await runCli(args, io);
    return { code, stdout: stdout(), stderr: stderr() };
  }
  const asking = () => ['--server', fleet.url ?? '', '--token-file', tokenFile];

  /** Waits until the placement is published and held or not; the condition's message. */
  async function heldTo(held: boolean): Promise<string> {
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
      const found = (await hub.api.get(PLACEMENT, { namespace: 'team-a', name: 'web' })) as unknown as
        | Placement
        | undefined;
      const condition = found?.status?.conditions?.find(({ type }) => type === 'berth.dev/Held');
      if (found?.status !== undefined && (condition?.status === 'True') === held)
        return condition?.message ?? '';
      // fixed wait: the pace of a poll
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`not ${held ? 'held' : 'published'}`);
  }

  it('status: all well', async () => {
    expect(await berth('status', ...asking())).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /Controller: ready\nPlacements are decided by: Berth\n[^]*fleet +[0-9a-f]{8} +10 +0\n[^]*team-a\/web +6\n/,
      ) as string,
    });
  });

  it('reconcile fetches now; a held change is printed, refused under another code, and released once', async () => {
    git.commit({ 'clusters.yaml': retired(4) }, 'Too much');
    expect(await berth('reconcile', ...asking())).toMatchObject({ code: 0 });
    const message = await heldTo(true);
    const code = /--token ([0-9a-f]{12})/.exec(message)?.[1] ?? '';
    const status = await berth('status', ...asking());
    expect(status).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('RemovalBudgetExceeded') as string,
    });
    const release = (...args: string[]) =>
      berth('release', ...args, '--kubeconfig', hub.kubeconfig, '--as', 'Grace');
    expect(await release('team-a/web', '--token', 'ffffffffffff')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not match the change') as string,
    });
    expect(await release('team-a/nonsense', '--token', code)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not exist') as string,
    });
    expect(await release('web', '--token', code)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('expected NAMESPACE/NAME') as string,
    });
    expect(await release('team-a/web', '--token', code)).toMatchObject({ code: 0 });
    await heldTo(false);
    expect(await release('team-a/web', '--token', code)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing is held') as string,
    });
  });

  it('history lists what was published and who released; replay gives the same bytes', async () => {
    // Records are written behind the publisher's back.
    await expect
      .poll(async () => (await berth('history', '--data', dataDir)).stdout.split('\n'))
      .toHaveLength(4);
    const table = await berth('history', 'team-a/web', '--data', dataDir);
    expect(table.stdout.split('\n')[0]).toMatch(/^RECORD +AGE +PLACEMENT +CLUSTERS +CHANGE/);
    expect(table.stdout).toContain('   −4   ');
    const listed = await berth('history', '--data', dataDir, '-o', 'json');
    const records = JSON.parse(listed.stdout) as readonly {
      hash: string;
      commit: { subject: string } | null;
      removed: string[];
      released: { by: string } | null;
    }[];
    expect(records.map((record) => record.commit?.subject)).toEqual(['First', 'Too much']);
    expect(records[1]).toMatchObject({
      removed: ['c1', 'c2', 'c3', 'c4'],
      released: {
        by: expect.stringMatching(
          /^Grace \(Kubernetes user [a-z:]+, as recorded by the client\) at /,
        ) as string,
      },
    });
    for (const { hash } of records)
      expect(await berth('replay', hash, '--data', dataDir)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('byte for byte') as string,
      });
    expect(await berth('replay', 'ffff', '--data', dataDir)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not in the history') as string,
    });
  });

  it('replay shows both when a decision comes out differently, and which versions made them', async () => {
    const copy = mkdtempSync(join(tmpdir(), 'berth-serve-'));
    cpSync(join(dataDir, 'history'), join(copy, 'history'), { recursive: true });
    const file = join(copy, 'history', 'records.jsonl');
    const records = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const [first] = records.map((line) => JSON.parse(line) as { hash: string; decided: string });
    writeFileSync(
      file,
      `${JSON.stringify({ ...first, decided: 'something else', engineVersion: '0.0.1' })}\n`,
    );
    const { code, stdout, stderr } = await berth('replay', first?.hash ?? '', '--data', copy);
    expect(stdout).toBe(
      `${first?.hash} team-a/web: another decision\n- something else\n+ ${first?.decided}\n`,
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^recorded by berth 0\.0\.1, computed by berth \d/) as string,
    });
    rmSync(copy, { recursive: true });
  });

  it('history says so when the records are there and cannot be read', async () => {
    const odd = mkdtempSync(join(tmpdir(), 'berth-serve-'));
    mkdirSync(join(odd, 'history', 'records.jsonl'), { recursive: true });
    expect(await berth('history', '--data', odd)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('records.jsonl: cannot be read') as string,
    });
    rmSync(odd, { recursive: true });
  });

  it('says what is wrong when nobody answers or the token is wrong', async () => {
    expect(await berth('status', '--server', 'http://127.0.0.1:1', '--token-file', tokenFile)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is berth serve running') as string,
    });
    const wrong = join(dataDir, 'wrong');
    writeFileSync(wrong, 'not-the-right-token\n');
    expect(await berth('status', '--server', fleet.url ?? '', '--token-file', wrong)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('401') as string,
    });
  });

  it.each([
    { args: ['--data', '/nonexistent'], error: '/nonexistent: contains no history' },
    { args: ['web'], error: 'placement: got "web", expected NAMESPACE/NAME' },
    { args: ['--limit', 'many'], error: '--limit: got "many"' },
  ])('history $args is refused', async ({ args, error }) => {
    const result = await berth('history', '--data', dataDir, ...args);
    expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(error) as string });
  });

  it.each([
    { args: ['--removal-budget', '120%'], error: '--removal-budget: got "120%"' },
    { args: ['--sync', 'push'], error: 'expected apply or observe' },
    { args: ['--on-conflict', 'ask'], error: 'expected report or take' },
    { args: ['--deletion-window', '-1m'], error: '--deletion-window: got "-1m", expected a duration' },
    { args: ['--poll', 'often'], error: '--poll: got "often", expected a positive duration' },
    { args: ['--listen', 'here'], error: 'expected HOST:PORT' },
    { args: ['--webhook', 'github=secret'], error: '--webhook: has no effect without --listen' },
    { args: ['--token-file', 'tokens'], error: '--token-file: has no effect without --listen' },
    { args: ['--git-ssh-key', 'k'], error: '--git-known-hosts' },
    { args: ['--kubeconfig', '/nonexistent'], error: '/nonexistent: cannot be read' },
  ])('serve $args is refused', async ({ args, error }) => {
    const result = await berth('serve', '--repo', git.path, '--data', join(dataDir, 'x'), ...args);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining(error) as string });
  });
});
