import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { loadKubeConfig } from '../../src/config/load-kube-config.ts';
import { kubeconfigText } from '../scripted-server.ts';

const home = mkdtempSync(path.join(tmpdir(), 'berth-kubeconfig-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

describe('the kubeconfig', () => {
  it('comes from KUBECONFIG when no file is named', () => {
    const file = path.join(home, 'config');
    writeFileSync(file, kubeconfigText('https://hub.example:6443'));
    vi.stubEnv('KUBECONFIG', file);
    expect(loadKubeConfig({}).getCurrentCluster()?.server).toBe('https://hub.example:6443');
  });

  it('may lie in the home folder', () => {
    const folder = path.join(home, 'person', '.kube');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'config'), kubeconfigText('https://hub.example:6443'));
    vi.stubEnv('KUBECONFIG', '');
    vi.stubEnv('HOME', path.join(home, 'person'));
    expect(loadKubeConfig({}).getCurrentCluster()?.server).toBe('https://hub.example:6443');
  });

  it.each([
    ['a home without it', home],
    ['no home', undefined],
  ])('that is nowhere is an error, not a cluster on this machine: %s', (_name, folder) => {
    vi.stubEnv('KUBECONFIG', undefined);
    vi.stubEnv('USERPROFILE', undefined);
    vi.stubEnv('HOME', folder);
    vi.stubEnv('PATH', home);
    vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined);
    expect(() => loadKubeConfig({})).toThrow(
      expect.objectContaining({
        code: 'kubeconfig.invalid',
        hint: expect.stringContaining('--kubeconfig') as string,
        message: expect.stringMatching(
          /^kubeconfig: was not found: KUBECONFIG is not set, ~\/\.kube\/config does not exist, and this process does not run in a pod/,
        ) as string,
      }) as Error,
    );
  });

  it('that is an empty file is not reported as missing', () => {
    const folder = path.join(home, 'empty', '.kube');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'config'), '');
    expect(() => loadKubeConfig({ env: { HOME: path.join(home, 'empty') } })).toThrow(
      'kubeconfig: was not found: KUBECONFIG is not set, ~/.kube/config declares no cluster, and this process does not run in a pod',
    );
  });

  it('of a pod without a mounted service account token says so', () => {
    const env = { HOME: home, KUBERNETES_SERVICE_HOST: '10.96.0.1' };
    const notMounted =
      "the token of the pod's service account is not mounted (/var/run/secrets/kubernetes.io/serviceaccount/token)";
    expect(() => loadKubeConfig({ env })).toThrow(
      `kubeconfig: was not found: KUBECONFIG is not set, ~/.kube/config does not exist, and ${notMounted}`,
    );
    expect(() => loadKubeConfig({ env, inCluster: true })).toThrow(
      expect.objectContaining({
        message: `in-cluster configuration: cannot be used: ${notMounted}`,
        hint: expect.stringContaining('automountServiceAccountToken') as string,
      }) as Error,
    );
  });

  it('may be spread over several files: of what they say of one name the first counts', () => {
    const files = ['https://first', 'https://second'].map((server, index) => {
      const file = path.join(home, `part-${index}`);
      writeFileSync(file, kubeconfigText(server));
      return file;
    });
    const users = path.join(home, 'users');
    writeFileSync(users, JSON.stringify({ users: [{ name: 'other', user: { token: 't' } }] }));
    vi.stubEnv('KUBECONFIG', [users, ...files].join(path.delimiter));
    const config = loadKubeConfig({});
    expect(config.getCurrentCluster()?.server).toBe('https://first');
    expect(config.users.map(({ name }) => name)).toEqual(['other', 'test', 'test']);
  });

  it('of a pod is asked for in a pod only', () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined);
    expect(() => loadKubeConfig({ inCluster: true })).toThrow(
      'in-cluster configuration: cannot be read: KUBERNETES_SERVICE_HOST is not set: this process does not run in a pod',
    );
  });

  it('may name this machine when somebody wrote so', () => {
    const text = kubeconfigText('http://localhost:8080');
    expect(loadKubeConfig({ text }).getCurrentCluster()?.server).toBe('http://localhost:8080');
  });

  it.each([
    {
      name: 'no YAML',
      text: 'users: [{name: t, user: {token: s3cret}\n',
      message: /cannot be read: [^\n]*$/,
    },
    { name: 'nothing in it', text: '', message: /has no current-context, expected one of: \(none\)$/ },
    { name: 'no contexts', text: '{}', message: /expected one of: \(none\)$/ },
    {
      name: 'a server that is no URL',
      text: kubeconfigText('hub'),
      message: /needs a cluster with a server URL, got "hub"$/,
    },
  ])('with $name says so in one line, without what else is in it', ({ text, message }) => {
    const load = () => loadKubeConfig({ text });
    expect(load).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message) as string }) as Error,
    );
    expect(load).not.toThrow(/s3cret/);
  });

  it('may be read in another context', () => {
    expect(() => loadKubeConfig({ text: kubeconfigText('https://h'), context: 'other' })).toThrow(
      /has no context "other", expected one of: test/,
    );
  });
});
