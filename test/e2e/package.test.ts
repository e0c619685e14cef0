import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BerthProcess } from './berth-process.ts';
import { copyCheckout, ROOT } from './copy-checkout.ts';

describe('the package that npm pack makes', () => {
  let dir: string;
  let program: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-package-'));
    const checkout = join(dir, 'checkout');
    copyCheckout(checkout);
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', dir], {
      cwd: checkout,
      encoding: 'utf8',
    });
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    const prefix = join(dir, 'prefix');
    mkdirSync(prefix);
    writeFileSync(join(prefix, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(dir, filename)], {
      cwd: prefix,
      stdio: 'pipe',
    });
    program = join(prefix, 'node_modules/berth/dist/src/app/cli/main.js');
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const run = (...args: string[]) =>
    spawnSync(process.execPath, [program, ...args], {
      cwd: dir,
      encoding: 'utf8',
      env: { ...process.env, HOME: dir },
    });

  it('prints its version and its help', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(run('--version').stdout).toContain(`berth ${version}`);
    expect(run('--help')).toMatchObject({ status: 0, stderr: '' });
  });

  it('runs the demo to its end', () => {
    const { status, stdout, stderr } = run('demo', '--once');
    expect(`${stdout}${stderr}`).toContain('moved');
    expect(status).toBe(0);
  });

  it('plans a change of a repository', () => {
    const repository = join(dir, 'fleet');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
        cwd: repository,
      });
    cpSync(join(ROOT, 'examples/guestbook-fleet'), repository, { recursive: true });
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('commit', '-qm', 'Place the guestbook');
    git('switch', '-qc', 'drained');
    writeFileSync(
      join(repository, 'extra.yaml'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n',
    );
    git('add', '-A');
    git('commit', '-qm', 'Add a ConfigMap');
    expect(run('plan', '--repo', repository, '--base', 'main', '--head', 'drained')).toMatchObject({
      status: 0,
    });
  });

  it('runs a hub', async () => {
    const hub = new BerthProcess(['hub', '--data', join(dir, 'hub'), '--listen', '127.0.0.1:0'], {}, program);
    await expect.poll(() => hub.text).toContain('kubeconfig');
    expect(await hub.stop()).toMatchObject({ code: 0 });
  });
});
