import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startGateway } from '@berth/access/gateway/run-gateway';
import { withHub } from '@berth/addon/testing';
import { SECRET } from '@berth/kube/model/kinds';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { SILENT_LOG as log } from '@berth/runtime/logger';
import { findProgram } from '@berth/test-kit/needed-program';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { expect, it } from 'vitest';
import { namespace } from './access-world.ts';
import { authorityOf, gatewaySecret } from './gateway-path.ts';
import { startPodServer } from './pod-server.ts';

const kubectl = findProgram('kubectl') ?? '';
const SUFFIX = '/apis/cluster.core.oam.dev/v1alpha1/clustergateways/pods/proxy';

it.skipIf(kubectl === '')('kubectl uses exec, attach and logs -f through an embedded hub', async () => {
  const authority = await authorityOf('cluster');
  const endpoint = await startPodServer(authority);
  await withHub(
    async ({ hub, kubeconfigs, run, waitFor }) => {
      for (const name of ['system', 'credentials']) await namespace(hub, name);
      await hub.create(SECRET, gatewaySecret('pods', { endpoint, 'ca.crt': authority.caPem, token: 't' }));
      run(async (signal) => {
        const { ended } = await startGateway({
          ...{
            hub,
            namespace: 'system',
            secretNamespace: 'credentials',
            impersonate: false,
            authorize: false,
          },
          ...{ listen: { host: '127.0.0.1', port: 0 }, clock, random: Math.random, log, signal },
        });
        await ended;
      });
      const file = join(dirname(kubeconfigs.hub), 'pods.kubeconfig');
      const text = readFileSync(kubeconfigs.hub, 'utf8');
      writeFileSync(file, text.replace(/^( +server: "?[^"\s]+)/m, `$1${SUFFIX}`), { mode: 0o600 });
      /** @param until undefined: kubectl ends by itself */
      const ask = async (args: readonly string[], until?: string): Promise<string> => {
        const child = spawn(kubectl, ['--kubeconfig', file, ...args]);
        let seen = '';
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (part) => (seen += String(part)));
        const closed = once(child, 'close');
        child.stdin.end('hello\n');
        try {
          if (until !== undefined) await waitFor(() => seen.includes(until));
          else {
            const [code] = await closed;
            seen += String(code);
          }
        } finally {
          child.kill();
          await closed;
        }
        return seen;
      };
      await waitFor(async () => (await ask(['get', 'pods', 'web', '-o', 'name'])) === 'pod/web\n0');
      expect(await ask(['exec', '-i', 'web', '--', 'cat'])).toBe('HELLO\n0');
      expect(await ask(['attach', '-i', 'web'])).toContain('HELLO\n');
      expect(await ask(['logs', '-f', 'web'], 'first line\n')).toBe('first line\n');
    },
    { ocm: true, patienceMs: PATIENCE_MS },
  );
});
