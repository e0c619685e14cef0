import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { startRecordingProxies } from '../fakes/recording-proxies.ts';
import { notRun } from './guide-commands.ts';
import { GuideShell } from './guide-shell.ts';
import { hasKubectl } from './kubectl-program.ts';

/** How the guide tells add-ons of the proxy. */
const ADDON_CONFIG = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: AddOnDeploymentConfig
metadata:
  name: addon-proxy-settings
  namespace: cluster1
spec:
  proxyConfig:
    httpProxy: "http://10.0.109.153:3128"
    httpsProxy: "https://10.0.109.153:3129"
    noProxy: ".cluster.local,.svc,10.96.0.1"
    caBundle: LS0tLS1CRUdJTg==
`;
const ADDON = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ManagedClusterAddOn
metadata:
  name: my-addon
  namespace: cluster1
spec:
  installNamespace: open-cluster-management-agent-addon
  configs:
  - group: addon.open-cluster-management.io
    resource: addondeploymentconfigs
    name: addon-proxy-settings
    namespace: cluster1
`;

/**
 * Scenarios 4, 6 and 9 of Open Cluster Management's guide with `berth`, on an embedded hub. Where the guide says what happens without giving
 * commands, these are the commands that do it.
 */
describe.skipIf(!hasKubectl())('scenarios of the guide', () => {
  let shell: GuideShell;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    shell = await GuideShell.open('cluster1,hosting');
    await shell.says('berth init --wait --context hub');
  });
  afterAll(async () => {
    for (const close of closing.splice(0)) await close();
    await shell.close();
  });

  const join = async (name: string, ...flags: readonly string[]): Promise<void> => {
    const ticket = 'ticket=$(berth get token --context hub -o yaml)';
    const field = (key: string): string => `$(echo "$ticket" | sed -n 's/^${key}: //p')`;
    const given = `--hub-token ${field('hub-token')} --hub-apiserver ${field('hub-apiserver')}`;
    await shell.says(`${ticket}\nberth join ${given} --wait --cluster-name ${name} ${flags.join(' ')}`);
    await shell.says(`berth accept --clusters ${name} --context hub`);
    await isJoined(name);
  };
  const isJoined = (name: string, hub = '--context hub'): Promise<void> =>
    expect
      .poll(() => shell.says(`kubectl get managedcluster ${name} ${hub}`))
      .toMatch(new RegExp(`^${name} +true +https:\\S+ +True +True +`, 'm'));
  const leave = async (name: string, context: string, hub = '--context hub'): Promise<void> => {
    await shell.says(`kubectl delete managedcluster ${name} ${hub}`);
    await shell.says(`berth unjoin --cluster-name ${name} --context ${context}`);
  };

  it('4: reports a cluster claim, and its updates', async () => {
    await join('cluster1', '--context cluster1');
    const claim = (value: string): string => `cat <<EOF | kubectl apply --context cluster1 -f -
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: ClusterClaim
metadata:
  name: id.open-cluster-management.io
spec:
  value: ${value}
EOF
`;
    const reported =
      'kubectl get managedcluster cluster1 --context hub -o jsonpath=\'{.status.clusterClaims[?(@.name=="id.open-cluster-management.io")].value}\'';
    for (const value of ['95f91f25-d7a2-4fc3-9237-2ef633d8451c', 'another']) {
      await shell.says(claim(value));
      await expect.poll(() => shell.says(reported)).toBe(value);
    }
    await leave('cluster1', 'cluster1');
  });

  it('6: lets one cluster be managed by two hubs, with all agents on it or with one elsewhere', async () => {
    await join('first', '--context cluster1');
    // A hub may hold a cluster twice; what counts is that the agents do not know of each other.
    const second = await GuideShell.open('none');
    closing.push(() => second.close());
    await second.says('berth init --wait --context hub');
    const ticket = JSON.parse(await second.says('berth get token -o json')) as Record<string, string>;
    const given = `--hub-token ${ticket['hub-token'] ?? ''} --hub-apiserver ${ticket['hub-apiserver'] ?? ''}`;
    const here = `--kubeconfig ${second.hub.kubeconfig}`;
    const joinSecond = `berth join ${given} --wait --cluster-name second --context`;
    expect(await shell.run(`${joinSecond} cluster1`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has the agent of first on') as string,
    });
    await shell.says(`${joinSecond} cluster1 --agent-namespace open-cluster-management-second`);
    await shell.says(`berth accept --clusters second ${here}`);
    await isJoined('second', here);
    const work = (cluster: string, name: string): string => `cat <<EOF | kubectl apply ${cluster} -f -
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: w, namespace: ${name}}
spec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: of-${name}, namespace: default}}]}}
EOF
`;
    await shell.says(work('--context hub', 'first'));
    await shell.says(work(here, 'second'));
    const applied = 'kubectl get configmaps -n default --context cluster1 -o name';
    await expect.poll(() => shell.says(applied)).toMatch(/of-first\n(.*\n)*.*of-second/);
    await leave('second', 'cluster1', here);
    expect(await shell.says(applied)).toMatch(/of-first/);
    expect(await shell.says(applied)).not.toMatch(/of-second/);
    await isJoined('first');

    // The same cluster again, with an agent that runs beside the cluster `hosting`.
    await shell.says('kubectl config view --minify --flatten --context cluster1 > managed.kubeconfig');
    const hosted = '--mode hosted --managed-cluster-kubeconfig managed.kubeconfig';
    await shell.says(`${joinSecond} hosting ${hosted}`);
    await shell.says(`berth accept --clusters second ${here}`);
    await isJoined('second', here);
    await shell.says(work(here, 'second'));
    await expect.poll(() => shell.says(applied)).toMatch(/of-second/);
    await leave('second', 'hosting', here);
    await leave('first', 'cluster1');
  });

  it('9: registers a cluster through an https proxy with an authority of its own', async () => {
    const authority = new CertificateAuthority(createAuthority('proxy', Date.now()));
    const pair = await authority.issueServing(['127.0.0.1', 'localhost'], Date.now(), 86_400_000);
    const proxies = await startRecordingProxies(pair);
    closing.push(() => proxies.close());
    writeFileSync(path.join(shell.folder, 'proxy.pem'), authority.certPem);
    const proxy = `https://127.0.0.1:${String(proxies.httpsPort)}`;
    await join('cluster1', '--context cluster1', `--proxy-url ${proxy} --proxy-ca-file proxy.pem`);
    const asked = new Set(proxies.taken().map((seen) => `${seen.proxy} ${seen.asked}`));
    expect(asked).toEqual(new Set([`https CONNECT ${new URL(shell.hub.url).host}`]));
    const secret =
      "kubectl -n open-cluster-management-agent get secret hub-kubeconfig-secret --context cluster1 -o jsonpath='{.data.kubeconfig}' | base64 -d";
    expect(await shell.says(secret)).toContain(`proxy-url: ${proxy}`);
    // As the guide shows it: the authority of the proxy is appended to that of the hub.
    const bootstrap = await shell.says(
      "kubectl -n open-cluster-management-agent get secret bootstrap-hub-kubeconfig --context cluster1 -o jsonpath='{.data.kubeconfig}' | base64 -d",
    );
    const [entry] = (JSON.parse(bootstrap) as { clusters: { cluster: Record<string, string> }[] }).clusters;
    expect(entry?.cluster).toMatchObject({ server: shell.hub.url, 'proxy-url': proxy });
    const trusted = Buffer.from(entry?.cluster['certificate-authority-data'] ?? '', 'base64').toString();
    expect(trusted).toMatch(/^-----BEGIN CERTIFICATE-----[^]*-----BEGIN CERTIFICATE-----/);
    expect(trusted).toContain(authority.certPem.trim());
    await shell.says('kubectl config view --minify --flatten --context cluster1 > managed.kubeconfig');
    shell.set('KUBECONFIG', path.join(shell.folder, 'managed.kubeconfig'));
    expect(await shell.says('kubectl -n default describe svc kubernetes | grep IP:')).toMatch(
      /^IP: +10\.96\.0\.1$/m,
    );
    shell.set('KUBECONFIG', shell.hub.kubeconfig);
    for (const object of [ADDON_CONFIG, ADDON])
      expect(await shell.says(`cat <<'EOF' | kubectl apply --context hub -f -${object}EOF`)).toMatch(
        /created$/m,
      );
    await leave('cluster1', 'cluster1');
  });

  it.each(['scenario 4', 'scenario 6', 'scenario 9'])('has run every command of %s', (section) => {
    expect(notRun(section, shell.ran)).toEqual([]);
  });
});
