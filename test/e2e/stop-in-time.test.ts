import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { baseFiles, cluster, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { BerthProcess } from './berth-process.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';

const STOPPED = { code: 0, signal: null };
const BUSY_THREAD = join(import.meta.dirname, 'busy-thread.mjs');
const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks';

let dir: string;
let git: GitFixture;
let hub: HubProcess | undefined;
const running: BerthProcess[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-stop-'));
  git = new GitFixture();
});
afterEach(async () => {
  for (const berth of running.splice(0)) await berth.kill();
  hub?.child.kill('SIGCONT');
  await hub?.end('SIGKILL');
  hub = undefined;
  git.remove();
  rmSync(dir, { recursive: true, force: true });
});

function start(...[args, env, program]: ConstructorParameters<typeof BerthProcess>): BerthProcess {
  const berth = new BerthProcess(args, env, program);
  running.push(berth);
  return berth;
}

/** One of several controllers, each with a data directory of its own. */
const elected = (kubeconfig: string, name: string): BerthProcess =>
  start(['serve', '--repo', git.path, '--kubeconfig', kubeconfig, '--data', join(dir, name)]);

const serve = (kubeconfig: string, env?: Record<string, string>): BerthProcess =>
  start(
    ['serve', '--repo', git.path, '--kubeconfig', kubeconfig, '--data', join(dir, 'data'), '--embedded'],
    env,
  );

/** A `git` before the real one that hangs, deaf to SIGTERM, when its arguments hold a word; it leaves its process id in `pid`. */
function hangingGit(word: string): { readonly env: Record<string, string>; readonly pid: () => number } {
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  const program = join(bin, 'git');
  const pidFile = join(dir, 'pid');
  const path = process.env['PATH'] ?? '';
  writeFileSync(
    program,
    `#!/bin/sh\ncase " $* " in *" ${word} "*) trap '' TERM; echo $$ > ${pidFile}; while :; do sleep 1; done;; esac\nPATH='${path}' exec git "$@"\n`,
  );
  chmodSync(program, 0o755);
  return {
    env: { PATH: `${bin}:${path}` },
    pid: () => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('berth serve ends by itself, with 1,', () => {
  it.each([
    ['where its port is taken', 'a-token-of-this-test', 'choose another address with --listen'],
    ['with a token that is too short', 'short', 'expected at least 16'],
  ])('%s', async (_why, token, said) => {
    const { kubeconfig, url } = (hub = await startHubProcess(join(dir, 'hub')));
    git.commit(baseFiles);
    const file = join(dir, 'tokens');
    writeFileSync(file, `${token}\n`);
    const args = [
      '--kubeconfig',
      kubeconfig,
      '--data',
      join(dir, 'data'),
      '--embedded',
      '--token-file',
      file,
    ];
    const berth = start(['serve', '--repo', git.path, ...args, '--listen', new URL(url).host]);
    expect(await berth.ended).toEqual({ code: 1, signal: null });
    expect(berth.text).toContain(said);
  });
});

describe('SIGTERM ends within 10 s', () => {
  it('berth serve, while the hub is frozen in the middle of a commit', async () => {
    const frozen = (hub = await startHubProcess(join(dir, 'hub')));
    const clusters = Array.from({ length: 300 }, (_, index) => cluster(`c${index}`));
    git.commit({ ...baseFiles, 'clusters.yaml': yaml(...clusters), 'web.yaml': yaml(placement('web')) });
    const berth = serve(frozen.kubeconfig);
    const there = async () => {
      const { body } = await frozen.call(
        'GET',
        '/apis/cluster.open-cluster-management.io/v1/managedclusters',
      );
      return (body?.['items'] as unknown[] | undefined)?.length ?? 0;
    };
    await expect.poll(there, { interval: 20 }).toBeGreaterThan(5);
    frozen.child.kill('SIGSTOP');
    expect(await berth.stop()).toEqual(STOPPED);
    expect(berth.text).not.toContain('work unfinished');
  });

  it('berth serve, while it connects to a hub that never answers', async () => {
    const frozen = (hub = await startHubProcess(join(dir, 'hub')));
    git.commit(baseFiles);
    frozen.child.kill('SIGSTOP');
    const berth = serve(frozen.kubeconfig);
    await expect.poll(() => berth.text).toContain('commit read');
    expect(await berth.stop()).toEqual(STOPPED);
  });

  it('the berth serve that leads and the one that stands by, while the hub is frozen', async () => {
    const frozen = (hub = await startHubProcess(join(dir, 'hub')));
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    const leader = elected(frozen.kubeconfig, 'a');
    await expect.poll(() => leader.text).toContain('this process leads now');
    const standby = elected(frozen.kubeconfig, 'b');
    await expect.poll(() => standby.text).toContain('commit read');
    frozen.child.kill('SIGSTOP');
    // It has something to write.
    git.commit({ 'more.yaml': yaml(placement('more')) });
    expect(await Promise.all([leader.stop(), standby.stop()])).toEqual([STOPPED, STOPPED]);
    for (const { text } of [leader, standby]) expect(text).not.toContain('work unfinished');
  });

  it('the berth serve that stands by, while another one leads, which goes on', async () => {
    const { kubeconfig } = (hub = await startHubProcess(join(dir, 'hub')));
    git.commit(baseFiles);
    const leader = elected(kubeconfig, 'a');
    await expect.poll(() => leader.text).toContain('this process leads now');
    const standby = elected(kubeconfig, 'b');
    await expect.poll(() => standby.text).toContain('commit read');
    expect(await standby.stop()).toEqual(STOPPED);
    expect(leader.child.exitCode).toBeNull();
    expect(await leader.stop()).toEqual(STOPPED);
    expect(leader.text).toContain('lease released');
  });

  it('berth plan, while it reads from a hub that never answers', async () => {
    const frozen = (hub = await startHubProcess(join(dir, 'hub')));
    const base = git.commit(baseFiles);
    git.commit({ 'web.yaml': yaml(placement('web')) });
    frozen.child.kill('SIGSTOP');
    const args = ['--repo', git.path, '--base', base, '--hub', '--kubeconfig', frozen.kubeconfig];
    // The command prints nothing before it is done; this tells when it opens its connection.
    const plan = start(['plan', ...args], { NODE_DEBUG: 'tls' });
    await expect.poll(() => plan.text).toContain('TLS');
    expect(await plan.stop()).toEqual({ code: 1, signal: null });
    expect(plan.text).not.toContain('work unfinished');
  });

  it.each(['cat-file', 'fetch', 'ls-tree'])(
    'berth serve, while git %s hangs, and git with it',
    async (word) => {
      const { kubeconfig } = (hub = await startHubProcess(join(dir, 'hub')));
      git.commit(baseFiles);
      const { env, pid } = hangingGit(word);
      const berth = serve(kubeconfig, env);
      await expect.poll(pid).toBeGreaterThan(0);
      expect(await berth.stop()).toEqual(STOPPED);
      await expect.poll(() => isAlive(pid())).toBe(false);
    },
  );

  it('berth serve, while git hangs at the start, and git with it', async () => {
    const { kubeconfig } = (hub = await startHubProcess(join(dir, 'hub')));
    git.commit(baseFiles);
    const { env, pid } = hangingGit('init');
    const berth = serve(kubeconfig, env);
    await expect.poll(pid).toBeGreaterThan(0);
    expect((await berth.stop()).signal).toBeNull();
    await expect.poll(() => isAlive(pid())).toBe(false);
  });

  it('berth agent, while the hub and the managed cluster are frozen in the middle of works', async () => {
    const frozen = (hub = await startHubProcess(join(dir, 'hub'), ['--members', 'cluster1']));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster1' } };
    await frozen.call('POST', '/api/v1/namespaces', namespace);
    for (let index = 0; index < 100; index++) {
      const map = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `m${index}`, namespace: 'default' },
      };
      await frozen.call('POST', WORKS, {
        apiVersion: 'work.open-cluster-management.io/v1',
        kind: 'ManifestWork',
        metadata: { name: `w${index}`, namespace: 'cluster1' },
        spec: { workload: { manifests: [map] } },
      });
    }
    const member = frozen.kubeconfig.replace('admin.kubeconfig', 'admin-cluster1.kubeconfig');
    const hubFlags = ['--hub-kubeconfig', frozen.kubeconfig, '--cluster-name', 'cluster1'];
    const agent = start(['agent', ...hubFlags, '--kubeconfig', member]);
    await expect.poll(() => agent.text, { interval: 5 }).toContain('work applied');
    frozen.child.kill('SIGSTOP');
    expect(await agent.stop()).toEqual(STOPPED);
  });

  it('berth hub, while clients hold connections, watches and half a request open', async () => {
    const berth = start([
      'hub',
      '--data',
      join(dir, 'hub'),
      '--listen',
      '127.0.0.1:0',
      '--members',
      'm1',
      '--agents',
    ]);
    await expect.poll(() => berth.text).toContain('admin.kubeconfig');
    const text = readFileSync(join(dir, 'hub', 'admin.kubeconfig'), 'utf8');
    const port = Number(/server: "https:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]);
    const token = /token: (\S+)/.exec(text)?.[1] ?? '';
    const head = `host: hub\r\nauthorization: Bearer ${token}\r\n`;
    const requests = [
      '',
      `GET /api/v1/namespaces?watch=true HTTP/1.1\r\n${head}\r\n`,
      `POST /api/v1/namespaces HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
    ];
    const sockets = await Promise.all(
      requests.map(
        (request) =>
          new Promise<ReturnType<typeof connect>>((resolve, reject) => {
            const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
              socket.write(request);
              resolve(socket);
            });
            socket.on('error', reject);
          }),
      ),
    );
    try {
      expect(await berth.stop()).toEqual(STOPPED);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it('berth demo, while git hangs, and git with it', async () => {
    const { env, pid } = hangingGit('cat-file');
    const berth = start(['demo', '--data', join(dir, 'demo')], env);
    await expect.poll(pid).toBeGreaterThan(0);
    expect((await berth.stop()).signal).toBeNull();
    await expect.poll(() => isAlive(pid())).toBe(false);
  });

  it('a command whose thread is busy', async () => {
    const berth = start([], {}, BUSY_THREAD);
    await expect.poll(() => berth.text).toContain('busy');
    expect(await berth.stop()).toEqual({ code: 1, signal: null });
    expect(berth.text).toContain('not stopped after 8 s');
  });
});
