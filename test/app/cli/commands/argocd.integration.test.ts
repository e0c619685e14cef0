import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runCli } from '../../../../src/app/cli/program.ts';
import { kind } from '@berth/kube/model/kinds';
import { CONFIG_MAP, DEPLOYMENT, NAMESPACE, SECRET } from '@berth/kube/model/kinds';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { crd } from '../../../interop/argocd-objects.ts';
import { APPLICATION_SET } from '../../../../src/core/argocd/argocd-kinds.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { CliIo } from '../../../../src/app/terminal/cli-io.ts';
import { makeCliIo } from '../../cli-harness.ts';

const CRD = kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'Cluster');
const URL = 'http://127.0.0.1:1';

type Data = KubeObject & { readonly data: Readonly<Record<string, string>> };

describe('berth argocd', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  const dir = mkdtempSync(join(tmpdir(), 'berth-argocd-cli-'));
  beforeAll(async () => {
    hub = await startEmbeddedHub({}, { members: ['east'] });
    await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } });
  });
  afterAll(async () => {
    await hub.close();
    rmSync(dir, { recursive: true });
  });
  const runWith = async (over: Partial<CliIo>, ...args: string[]) => {
    const { io, stdout, stderr } = makeCliIo(over);
    const code = await runCli(['argocd', ...args], io);
    return { code, stdout: stdout(), stderr: stderr() };
  };
  const berth = (...args: string[]) => runWith({}, ...args);
  const onHub = (...args: string[]) => berth(...args, '--kubeconfig', hub.kubeconfig);

  it('install --dry-run prints what a user applies, and needs no hub', async () => {
    const { code, stdout } = await berth('install', '--url', URL, '--dry-run', '--name', 'web');
    expect(code).toBe(0);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'ConfigMap web',
      'Secret web-plugin',
      'ConfigMap berth-placement-decisions',
      'Role read-placement-decisions',
      'RoleBinding read-placement-decisions',
    ]);
    expect(objects[0]).toMatchObject({ data: { baseUrl: URL, token: '$web-plugin:token' } });
  });

  it('doctor says that Argo CD is not installed', async () => {
    const { code, stderr } = await onHub('doctor');
    expect(code).toBe(1);
    expect(stderr).toMatch(/the API has no ApplicationSets/);
  });

  it('install makes a token once, prints its digest, and keeps it', async () => {
    const first = await onHub('install', '--url', URL, '--placement-namespace', 'team-a');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const secret = () => hub.api.get(SECRET, { namespace: 'argocd', name: 'berth-plugin' });
    const token = Buffer.from(((await secret())?.['data'] as { token: string }).token, 'base64').toString();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(first.stdout).not.toContain(token);
    const entry = parse(first.stdout.slice(first.stdout.indexOf('tokens:'))) as {
      readonly tokens: readonly object[];
    };
    expect(entry.tokens).toMatchObject([{ name: 'argocd-berth', namespaces: ['team-a'] }]);
    const before = (await secret())?.metadata.resourceVersion;
    expect((await onHub('install', '--url', URL)).stdout).not.toContain('A token was created');
    expect((await secret())?.metadata.resourceVersion).toBe(before);
    writeFileSync(join(dir, 'token'), 'a-token-that-was-given\n');
    await onHub('install', '--url', URL, '--token-file', join(dir, 'token'));
    expect((await secret())?.metadata.resourceVersion).not.toBe(before);
  });

  it('install prints the definition of GitOpsCluster, and leaves the one of a hub that has it', async () => {
    const { stdout } = await berth('install', '--url', URL, '--dry-run', '--gitops-cluster-crd');
    const [crd, ...rest] = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
    expect(crd?.metadata.name).toBe('gitopsclusters.apps.open-cluster-management.io');
    expect(crd).toMatchObject({ spec: { versions: [{ name: 'v1beta1' }, { name: 'v1alpha1' }] } });
    expect(rest).toHaveLength(5);
    const again = await onHub('install', '--url', URL, '--gitops-cluster-crd');
    expect(again.stdout).toContain(
      'the hub already serves GitOpsCluster (apps.open-cluster-management.io/v1beta1): its definition stays',
    );
    const name = 'gitopsclusters.apps.open-cluster-management.io';
    const own = await hub.api.get(CRD, { namespace: '', name });
    expect(own?.metadata.managedFields).toBeUndefined();
  });

  it('install prints the definition of the report of the pull model, and leaves the one of a hub', async () => {
    const { stdout } = await berth('install', '--url', URL, '--dry-run', '--report-crd');
    const [crd, ...rest] = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
    expect(crd?.metadata.name).toBe('multiclusterapplicationsetreports.apps.open-cluster-management.io');
    expect(rest).toHaveLength(5);
    const again = await onHub('install', '--url', URL, '--report-crd');
    expect(again.stdout).toContain(
      'the hub already serves MulticlusterApplicationSetReport (apps.open-cluster-management.io/v1alpha1)',
    );
  });

  it('run says what to get where a program is missing, also with --dry-run', async () => {
    const { code, stderr } = await berth('run', '--dry-run');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /argocd, redis-server, git: found neither on PATH nor in the folder of --programs/,
    );
    expect(stderr).toContain('hint: get argocd-OS-ARCH of a release of Argo CD 3.6');
  });

  it('install --extension adds to what Argo CD has, with the token that is there', async () => {
    const entry = { app: 'argocd-server' };
    const labels = { metadata: { labels: entry } };
    const volumeMounts = [{ name: 'tmp', mountPath: '/tmp' }];
    const spec = {
      containers: [{ name: 'argocd-server', image: 'argocd', volumeMounts }],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    };
    await hub.api.create(DEPLOYMENT, {
      ...{
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { namespace: 'argocd', name: 'argocd-server' },
      },
      spec: { selector: { matchLabels: entry }, template: { ...labels, spec } },
    });
    const data = { url: 'https://argocd.example' };
    await hub.api.create(CONFIG_MAP, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'argocd', name: 'argocd-cm' },
      data,
    });
    const args = ['install', '--url', URL, '--name', 'pages', '--extension'];
    const first = await onHub(...args);
    expect(parse(first.stdout.slice(first.stdout.indexOf('tokens:')))).toMatchObject({
      tokens: [{ name: 'argocd-pages', scopes: ['plugin', 'extension'] }],
    });
    expect((await onHub(...args)).stdout).toContain('add scopes: [plugin, extension]');
    const read = async (of: typeof SECRET, name: string) =>
      (await hub.api.get(of, { namespace: 'argocd', name })) as Data;
    const text = (value = '') => Buffer.from(value, 'base64').toString();
    const token = text((await read(SECRET, 'pages-plugin')).data['token']);
    expect(text((await read(SECRET, 'pages-extension')).data['authorization'])).toBe(`Bearer ${token}`);
    const { data: settings } = await read(CONFIG_MAP, 'argocd-cm');
    expect(settings['url']).toBe('https://argocd.example');
    expect(settings['extension.config.berth']).toContain('$pages-extension:authorization');
    const server = JSON.stringify(await read(DEPLOYMENT, 'argocd-server'));
    for (const part of [
      '"image":"argocd"',
      `${URL}/argocd/extension.tar.gz`,
      '"mountPath":"/tmp"',
      '"mountPath":"/tmp/extensions/"',
    ])
      expect(server).toContain(part);
    const bound = await berth('install', '--url', `${URL}/namespaces/a`, '--extension', '--dry-run');
    expect(bound.stderr).toContain('an address without a path');
  });

  it('install writes the entry of a token that it makes into a new file, and spoils none that is there', async () => {
    const [file, name] = [join(dir, 'tokens.yaml'), 'entry'];
    const args = ['install', '--url', URL, '--name', name, '--token-entry', file];
    writeFileSync(file, 'mine');
    const refused = await onHub(...args);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/--token-entry.*does not exist/);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(await hub.api.get(SECRET, { namespace: 'argocd', name: 'entry-plugin' })).toBeUndefined();
    rmSync(file);
    const done = await onHub(...args);
    expect(done.stdout).toContain(`--token-file ${file}`);
    expect(done.stdout).not.toContain('sha256');
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({ tokens: [{ name: 'argocd-entry' }] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // The token is there: nothing is made, and the file stays.
    const again = await onHub(...args);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toContain('The Secret argocd/entry-plugin keeps its token');
  });

  it.each(['ftp://x', 'berth', 'https://x?a=b'])('install refuses the address %s', async (url) => {
    const { code, stderr } = await berth('install', '--url', url, '--dry-run');
    expect(code).toBe(1);
    expect(stderr).toMatch(/--url/);
  });

  it('doctor finds what is wrong in the objects of a hub, and prints it as JSON', async () => {
    await hub.api.create(CRD, crd('applicationsets', 'ApplicationSet') as unknown as KubeObject);
    await expect
      .poll(() =>
        hub.api.list(APPLICATION_SET).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const generators = [
      { plugin: { configMapRef: { name: 'berth' }, requeueAfterSeconds: 30 } },
      { clusterDecisionResource: { configMapRef: 'berth-placement-decisions', name: 'web-decision-1' } },
    ];
    await hub.api.create(APPLICATION_SET, {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'ApplicationSet',
      metadata: { name: 'web', namespace: 'argocd' },
      spec: { generators },
    });
    const { code, stdout } = await onHub('doctor', '-o', 'json');
    expect(code).toBe(1);
    const codes = (JSON.parse(stdout) as readonly { readonly code: string }[]).map((one) => one.code);
    // No Argo CD runs there.
    expect(codes).toEqual(['argocd.unreachable', 'argocd.no-page', 'argocd.version']);
    expect((await onHub('doctor')).stdout).toMatch(/hint: kubectl .*\n1 error, 2 warnings\n$/);
  });

  it('run writes what the hub lacks, and ends with the last words of a program that ends', async () => {
    const programs = join(dir, 'programs');
    mkdirSync(programs);
    const script = (name: string, text: string) =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o700 });
    script('argocd', 'echo "$ARGOCD_BINARY_NAME: unknown flag" >&2; exit 20');
    script('redis-server', 'exec sleep 600');
    const over = { cwd: dir, env: { PATH: process.env['PATH'] } };
    const flags = ['--programs', programs, '--kubeconfig', hub.kubeconfig];
    const first = await runWith(over, 'run', ...flags);
    expect(first.code).toBe(1);
    expect(first.stdout).toContain('CustomResourceDefinition applications.argoproj.io written');
    expect(first.stdout).toContain('Secret cluster-east written');
    expect(first.stderr).toContain('argocd-repo-server ended with exit code 20');
    expect(first.stderr).toContain('argocd-repo-server: unknown flag');
    const east = await hub.api.get(SECRET, { namespace: 'argocd', name: 'cluster-east' });
    const { server = '' } = (east as Data).data;
    expect(Buffer.from(server, 'base64').toString()).toBe(hub.hub.memberUrl('east'));
    expect((await runWith(over, 'run', ...flags)).stdout).not.toContain('written');
  });
});
