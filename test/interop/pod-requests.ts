import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { findProgram } from '@berth/test-kit/needed-program';

/** The administrator of a cluster with nodes that is thrown away afterwards; undefined: there is none. */
export const NODES = process.env['BERTH_NODES_KUBECONFIG'];
/** An image on its nodes that answers HTTP at port 8080, and has `sh` and `wget`. */
const NODES_IMAGE = process.env['BERTH_NODES_WEB_IMAGE'] ?? 'localhost/web:1';
export const kubectl = findProgram('kubectl') ?? '';

export function podOf(name: string): KubeObject {
  const container = { name: 'web', image: NODES_IMAGE, imagePullPolicy: 'Never', stdin: true };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name } },
    spec: { containers: [container], terminationGracePeriodSeconds: 0 },
  };
}

/** What kubectl runs in a pod, by a kubeconfig that leads there. */
export interface PodPath {
  /** Of the kubeconfig. */
  readonly file: string;
  /** Runs kubectl with it. */
  ask(...args: readonly string[]): Promise<string>;
}

/** The requests that kubectl makes to pods, each in the protocols that it knows. */
export function itReachesAPod(name: string, through: () => PodPath): void {
  it.each(['true', 'false'])(
    'exec carries both directions and the exit code (WebSocket: %s)',
    async (webSockets) => {
      const env = { ...process.env, KUBECTL_REMOTE_COMMAND_WEBSOCKETS: webSockets };
      const command = ['exec', '-i', name, '--', 'sh', '-c', 'cat; exit 7'];
      const child = spawn(kubectl, ['--kubeconfig', through().file, ...command], { env });
      const parts: Buffer[] = [];
      child.stdout.on('data', (part: Buffer) => parts.push(part));
      const sent = Buffer.alloc(2 * 1024 * 1024, 'abcdefg');
      child.stdin.end(sent);
      const [code] = await once(child, 'close');
      expect([code, Buffer.concat(parts).equals(sent)]).toEqual([7, true]);
    },
  );

  it('attach and logs -f follow', async () => {
    const texts = ['attach', 'logs'].map((verb) => {
      const follow = verb === 'logs' ? ['-f'] : [];
      const child = spawn(kubectl, ['--kubeconfig', through().file, verb, ...follow, name]);
      const seen = { child, text: '' };
      child.stdout.on('data', (part: Buffer) => (seen.text += part.toString()));
      return seen;
    });
    await expect
      .poll(async () => {
        await through().ask('exec', name, '--', 'sh', '-c', 'echo line-of-the-test > /proc/1/fd/1');
        return texts.every(({ text }) => text.includes('line-of-the-test'));
      })
      .toBe(true);
    for (const { child } of texts) child.kill();
  });

  it.each(['true', 'false'])('port-forward reaches a port of a pod (WebSocket: %s)', async (webSockets) => {
    const env = { ...process.env, KUBECTL_PORT_FORWARD_WEBSOCKETS: webSockets };
    const command = ['port-forward', `pod/${name}`, ':8080'];
    const child = spawn(kubectl, ['--kubeconfig', through().file, ...command], { env });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const port = /127\.0\.0\.1:(\d+)/.exec(line.toString())?.[1];
    const answers = await Promise.all(
      [1, 2, 3].map(async () => (await fetch(`http://127.0.0.1:${port}/`)).text()),
    );
    child.kill();
    const inThePod = await through().ask('exec', name, '--', 'wget', '-qO-', 'http://127.0.0.1:8080/');
    expect(inThePod).not.toBe('');
    expect(answers).toEqual([inThePod, inThePod, inThePod]);
  });
}
