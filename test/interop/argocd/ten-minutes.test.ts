import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFIG_MAP, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { cluster } from '../../app/serve/fleet-fixture.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import {
  type ApplicationSetController,
  startApplicationSetController,
} from '../peers/applicationset-controller.ts';
import { ARGO_CONTROLLER_PROGRAMS, startArgoController } from '../peers/argocd-controller.ts';
import { freePort } from '../peers/free-port.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { served } from '../pull/member.ts';
import { APP_PROJECT, clusterSecret, installArgo, PROJECT, SECRET } from './argo-installation.ts';
import { documentedCommands } from './documented-commands.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DATA = { greeting: 'hello' };

describe.skipIf(!hasPeers(...ARGO_CONTROLLER_PROGRAMS, 'kubectl'))(
  'the commands of "Ten minutes to the first Application" in docs/argocd.md, with a fresh Argo CD',
  () => {
    let dir: string;
    let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
    let controller: ApplicationSetController;
    let argo: { stop(): Promise<void> };

    beforeAll(async () => {
      dir = mkdtempSync(join(tmpdir(), 'berth-ten-minutes-'));
      hub = await startEmbeddedHub();
      await installArgo(hub.api);
      await served(hub.api);
      await hub.api.create(APP_PROJECT, PROJECT);
      // The hub is a cluster as good as any other one.
      await hub.api.create(MANAGED_CLUSTER, cluster('east'));
      await hub.api.create(SECRET, clusterSecret('east', addressOf(hub.kubeconfig)));
      argo = await startArgoController(dir, hub.kubeconfig);
      controller = await startApplicationSetController(dir, hub.kubeconfig);
    });
    afterAll(async () => {
      await controller?.stop();
      await argo?.stop();
      await hub?.close();
      rmSync(dir, { recursive: true, force: true });
    });

    it('lead, word for word, to an Application that is synced', async () => {
      const page = join(ROOT, 'docs/argocd.md');
      const script = documentedCommands(page, 'Ten minutes to the first Application', {
        '192.0.2.10:8080': `127.0.0.1:${await freePort()}`,
        'https://github.com/argoproj/argocd-example-apps.git': `file://${repository(dir)}`,
        'path: guestbook': 'path: .',
      });
      const text = await runAsReader(script, join(dir, 'work'), hub.kubeconfig);
      expect(text).toContain('application.argoproj.io/web-east condition met');
      const words = await hub.api.get(CONFIG_MAP, { namespace: 'web', name: 'words' });
      expect(words).toMatchObject({ data: DATA });
    });
  },
);

/** How Argo CD reaches the cluster of a kubeconfig. */
function addressOf(kubeconfig: string): { readonly server: string; readonly config: string } {
  const text = readFileSync(kubeconfig, 'utf8');
  const field = (key: RegExp): string => key.exec(text)?.[1] ?? '';
  const config = {
    bearerToken: field(/token: (\S+)/),
    tlsClientConfig: { caData: field(/certificate-authority-data: (\S+)/) },
  };
  return { server: field(/server: "(.*)"/), config: JSON.stringify(config) };
}

/**
 * A repository with one ConfigMap.
 * @returns its path
 */
function repository(dir: string): string {
  const path = join(dir, 'app');
  mkdirSync(path);
  const words = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'words' }, data: DATA };
  writeFileSync(join(path, 'words.json'), JSON.stringify(words));
  const git = (...args: string[]) => execFileSync('git', ['-C', path, ...args]);
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-q', '-m', 'first');
  return path;
}

/**
 * Runs the script as somebody who has `berth` on the path. What it leaves running is ended.
 * @returns what it printed
 */
async function runAsReader(script: string, cwd: string, kubeconfig: string): Promise<string> {
  const bin = join(cwd, 'bin');
  mkdirSync(bin, { recursive: true });
  const berth = join(bin, 'berth');
  const program = join(ROOT, 'dist/src/app/cli/main.js');
  writeFileSync(berth, `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
  chmodSync(berth, 0o755);
  const env = {
    ...process.env,
    GIT_AUTHOR_NAME: 'test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_COMMITTER_NAME: 'test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    KUBECONFIG: kubeconfig,
  };
  const whole = `trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT\n${script}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', whole], { cwd, env });
  return stdout;
}
