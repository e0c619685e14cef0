import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KubeConfig as ClientNodeConfig } from '@kubernetes/client-node';
import { afterAll, describe, expect, it } from 'vitest';
import { inClusterConfig } from '../../../../src/adapters/kube/config/in-cluster-config.ts';
import { KubeConfig } from '../../../../src/adapters/kube/config/kube-config.ts';
import { loadKubeConfig } from '../../../../src/adapters/kube/config/load-kube-config.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'berth-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const base64 = (text: string) => Buffer.from(text).toString('base64');
const fileOf = (name: string, content: string) => {
  writeFileSync(path.join(folder, name), content);
  return name;
};

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

const printed = JSON.stringify({ status: { token: 'of the plugin' } });

describe('the credentials of a kubeconfig are those that client-node finds', () => {
  it.each([
    { name: 'a token', user: { token: 's3cret' } },
    { name: 'a password', user: { username: 'me', password: 'p:w' } },
    { name: 'a token and somebody to act as', user: { token: 's3cret', as: 'somebody' } },
    { name: 'nothing at all', user: {} },
    {
      name: 'certificates inside',
      cluster: { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'hub' },
      user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
    },
    {
      name: 'certificates in files beside it, which come before what is inside',
      cluster: {
        'certificate-authority': fileOf('ca', 'CA of a file'),
        'certificate-authority-data': base64('CA'),
      },
      user: { 'client-certificate': fileOf('cert', 'CERT'), 'client-key': fileOf('key', 'KEY') },
    },
    { name: 'a server that is not looked at closely', cluster: { 'insecure-skip-tls-verify': true } },
    {
      name: 'a plugin',
      user: { exec: { command: process.execPath, args: ['-e', `console.log(${JSON.stringify(printed)})`] } },
    },
    {
      name: 'a token file of an auth provider',
      user: { 'auth-provider': { config: { tokenFile: path.join(folder, fileOf('token', 'tok')) } } },
    },
    { name: 'plain http', cluster: { server: 'http://hub.example', 'insecure-skip-tls-verify': true } },
  ])('$name', async ({ cluster = {}, user = {} }) => {
    const file = written(cluster, user);
    const theirs = new ClientNodeConfig();
    theirs.loadFromFile(file);
    const options = { headers: {} };
    await theirs.applyToHTTPSOptions(options);
    const { agent: _agent, ...wanted } = options as { readonly agent?: unknown };
    const { agent: _own, ...found } = await loadKubeConfig({ file }).credentials();
    expect(found).toEqual(wanted);
  });

  it('through a proxy come with an agent for it', async () => {
    const file = written({ 'proxy-url': 'http://proxy.example:3128' }, { token: 's3cret' });
    const { agent, headers } = await loadKubeConfig({ file }).credentials();
    expect(agent?.constructor.name).toBe('HttpsProxyAgent');
    expect(headers).toEqual({ Authorization: 'Bearer s3cret' });
  });

  it('over plain http are refused, unless nobody minds', async () => {
    const file = written({ server: 'http://hub.example' }, { token: 's3cret' });
    await expect(loadKubeConfig({ file }).credentials()).rejects.toThrow(/HTTP protocol is not allowed/);
  });
});

describe('the credentials', () => {
  it('check the server also when there is no user', async () => {
    const cluster = { name: 'hub', server: 'https://h', skipTLSVerify: false, caData: base64('CA') };
    const contexts = [{ name: 'c', cluster: 'hub', user: 'nobody' }];
    const config = new KubeConfig({ clusters: [cluster], users: [], contexts, currentContext: 'c' });
    expect(await config.credentials()).toEqual({ ca: Buffer.from('CA'), headers: {} });
  });

  it('are read anew from their files, without the line break at the end of a token', async () => {
    const token = path.join(folder, fileOf('rotating', 'first\n'));
    const config = loadKubeConfig({
      file: written({}, { 'auth-provider': { config: { tokenFile: token } } }),
    });
    expect((await config.credentials()).headers).toEqual({ Authorization: 'Bearer first' });
    fileOf('rotating', 'second\n');
    expect((await config.credentials()).headers).toEqual({ Authorization: 'Bearer second' });
  });

  it('of a token file beside the kubeconfig count before a token in it, which serves while there is no file', async () => {
    fileOf('beside', 'of the file');
    const config = loadKubeConfig({ file: written({}, { tokenFile: 'beside', token: 'inside' }) });
    expect((await config.credentials()).headers).toEqual({ Authorization: 'Bearer of the file' });
    rmSync(path.join(folder, 'beside'));
    expect((await config.credentials()).headers).toEqual({ Authorization: 'Bearer inside' });
  });

  it.each([
    { command: './bin/login', want: path.join(folder, 'bin/login') },
    { command: '/usr/bin/login', want: '/usr/bin/login' },
    { command: 'login', want: 'login' },
  ])('of the plugin $command come from $want', ({ command, want }) => {
    const { users } = loadKubeConfig({ file: written({}, { exec: { command } }) });
    expect(users[0]?.exec).toEqual({ command: want });
  });

  it('that are not there are an error', async () => {
    const config = loadKubeConfig({ file: written({}, { 'client-certificate': 'gone' }) });
    await expect(config.credentials()).rejects.toThrow(/ENOENT.*gone/);
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
    expect(config.getCurrentUser()?.authProvider).toMatchObject({
      config: { tokenFile: `${account}/token` },
    });
  });
});
