import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KubeConfig as ClientNodeConfig } from '@kubernetes/client-node';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { KubeConfig } from '../../src/config/kube-config.ts';
import { inClusterConfig, loadKubeConfig } from '../../src/config/load-kube-config.ts';
import { createAuthority } from '../../src/x509/self-signed-authority.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'berth-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const base64 = (text: string) => Buffer.from(text).toString('base64');
const fileOf = (name: string, content: string) => {
  writeFileSync(path.join(folder, name), content);
  return name;
};
const authority = createAuthority('authority', Date.now());
const person = createAuthority('person', Date.now());
const wish = { clock: systemClock };

/** The kubeconfig as a file beside the files that it names. */
function written(cluster: object, user: object): string {
  const text = JSON.stringify({
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'hub', user: 'me' } }],
    clusters: [{ name: 'hub', cluster: { server: 'https://hub.example:6443/', ...cluster } }],
    users: [{ name: 'me', user }],
  });
  return path.join(folder, fileOf('config', text));
}

const printed = JSON.stringify({
  kind: 'ExecCredential',
  apiVersion: 'client.authentication.k8s.io/v1',
  status: { token: 'of the plugin' },
});
const exec = {
  apiVersion: 'client.authentication.k8s.io/v1',
  interactiveMode: 'Never',
  command: process.execPath,
  args: ['-e', `console.log(${JSON.stringify(printed)})`],
};

/** What the official client finds, in our words. */
async function foundByClientNode(file: string): Promise<object> {
  const theirs = new ClientNodeConfig();
  theirs.loadFromFile(file);
  const options: Record<string, unknown> & { headers: Record<string, string> } = { headers: {} };
  await theirs.applyToHTTPSOptions(options);
  const { agent: _agent, headers, auth, servername, ...tls } = options;
  const basic = typeof auth === 'string' ? `Basic ${base64(auth)}` : undefined;
  return {
    tls: { ...tls, ...(servername !== undefined && { serverName: servername }) },
    authorization: basic ?? headers['Authorization'],
    user: headers['Impersonate-User'],
  };
}

describe('the credentials of a kubeconfig are those that client-node finds', () => {
  it.each([
    { name: 'a token', user: { token: 's3cret' } },
    { name: 'a password', user: { username: 'me', password: 'p:w' } },
    { name: 'a token and somebody to act as', user: { token: 's3cret', as: 'somebody' } },
    { name: 'nothing at all', user: {} },
    {
      name: 'certificates inside',
      cluster: { 'certificate-authority-data': base64(authority.certPem), 'tls-server-name': 'hub' },
      user: {
        'client-certificate-data': base64(person.certPem),
        'client-key-data': base64(person.keyPem),
      },
    },
    {
      name: 'certificates in files beside it',
      cluster: { 'certificate-authority': fileOf('ca', authority.certPem) },
      user: {
        'client-certificate': fileOf('cert', person.certPem),
        'client-key': fileOf('key', person.keyPem),
      },
    },
    { name: 'a server that is not looked at closely', cluster: { 'insecure-skip-tls-verify': true } },
    { name: 'a plugin', user: { exec } },
  ])('$name', async ({ cluster = {}, user = {} }) => {
    const file = written(cluster, user);
    const config = loadKubeConfig({ file });
    const { tls, authorization } = await config.credentials(wish);
    expect({ tls, authorization, user: config.impersonated()?.user }).toEqual(await foundByClientNode(file));
  });
});

describe('the credentials', () => {
  it('check the server also when there is no user', async () => {
    const cluster = { name: 'hub', server: 'https://h', caData: base64(authority.certPem) };
    const contexts = [{ name: 'c', cluster: 'hub', user: 'nobody' }];
    const config = new KubeConfig({ clusters: [cluster], users: [], contexts, currentContext: 'c' });
    const { tls, authorization } = await config.credentials(wish);
    expect(tls).toEqual({ ca: Buffer.from(authority.certPem) });
    expect(authorization).toBeUndefined();
  });

  it.each([
    { command: './bin/login', want: path.join(folder, 'bin/login') },
    { command: '/usr/bin/login', want: '/usr/bin/login' },
    { command: 'login', want: 'login' },
  ])('of the plugin $command come from $want', ({ command, want }) => {
    const { users } = loadKubeConfig({ file: written({}, { exec: { ...exec, command } }) });
    expect(users[0]?.exec?.command).toBe(want);
  });

  it('of a pod are those of its service account', () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
    const config = new KubeConfig(inClusterConfig(env));
    const account = '/var/run/secrets/kubernetes.io/serviceaccount';
    expect(config.getCurrentCluster()).toMatchObject({
      server: 'https://[fd00::1]:6443',
      caFile: `${account}/ca.crt`,
      skipTLSVerify: false,
    });
    expect(config.getCurrentUser()?.tokenFile).toBe(`${account}/token`);
  });
});
