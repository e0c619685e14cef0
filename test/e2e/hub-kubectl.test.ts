import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HubProcess } from './hub-process.ts';
import { startHubProcess } from './hub-process.ts';
import { makeCertificateRequest } from './certificate-request.ts';
import type { KubectlStep } from './kubectl-steps.ts';
import { hasKubectl } from './kubectl-program.ts';
import { KUBECTL_BATTERY } from './kubectl-steps.ts';

/** Older releases do not know some of the commands. Those before 1.29 read the OpenAPI v2 document. */
const OLDEST_MINOR = 28;
const found = hasKubectl(OLDEST_MINOR);

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Where {
  readonly kubeconfig: string;
  readonly cacheDir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** @param onWatch called when it has opened a watch, which it says when it tells its requests */
function kubectl(
  where: Where,
  step: Pick<KubectlStep, 'run' | 'stdin' | 'env'>,
  onWatch?: () => void,
): Promise<Ran> {
  const args = [...step.run.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ''));
  if (onWatch !== undefined) args.push('-v=6');
  return new Promise((resolve) => {
    const env = {
      ...process.env,
      KUBECONFIG: where.kubeconfig,
      KUBECACHEDIR: where.cacheDir,
      ...where.env,
      ...step.env,
    };
    const child = spawn('kubectl', args, { env });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      if (stderr.includes('watch=true')) onWatch?.();
    });
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
    child.stdin.end(step.stdin ?? '');
  });
}

async function beside(where: Where, step: KubectlStep, meanwhile: string): Promise<Ran> {
  let watches = (): void => undefined;
  const watching = new Promise<void>((resolve) => (watches = resolve));
  const running = kubectl(where, step, () => watches());
  await Promise.race([watching, running]);
  await kubectl(where, { run: meanwhile });
  return running;
}

async function check(where: Where, step: KubectlStep): Promise<void> {
  const ran = await (step.meanwhile === undefined
    ? kubectl(where, step)
    : beside(where, step, step.meanwhile));
  const told = `kubectl ${step.run}\n${ran.stdout}${ran.stderr}`;
  if (step.fails !== undefined) {
    expect(ran.code, told).not.toBe(0);
    expect(ran.stderr).toMatch(step.fails);
    return;
  }
  // A watch that is ended by its time-out says so with code 1 in some releases.
  const allowed = step.run.includes('--watch ') ? [0, 1] : [step.exitCode ?? 0];
  expect(allowed, told).toContain(ran.code);
  for (const pattern of step.out ?? []) expect(ran.stdout, told).toMatch(pattern);
  for (const text of step.without ?? []) expect(ran.stdout).not.toContain(text);
  if (step.err !== undefined) expect(ran.stderr).toContain(step.err);
}

describe.skipIf(!found).each([
  ['HTTP/2', {}],
  ['HTTP/1.1', { GODEBUG: 'http2client=0' }],
])('kubectl over %s', (_protocol, env) => {
  let hub: HubProcess;
  let where: Where;
  let directory: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'berth-kubectl-'));
    hub = await startHubProcess(join(directory, 'data'));
    where = { kubeconfig: hub.kubeconfig, cacheDir: join(directory, 'cache'), env };
  });
  afterAll(async () => {
    await hub.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  });

  for (const [title, steps] of KUBECTL_BATTERY)
    describe(title, () => {
      it.each(steps.map((step, index) => [`${String(index + 1)}. ${step.run.slice(0, 90)}`, step] as const))(
        '%s',
        async (_name, step) => check(where, step),
      );
    });

  it('approves a certificate request, and the certificate works', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const request = await makeCertificateRequest(privateKey, { commonName: 'agent', organization: 'agents' });
    const csr = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'agent' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['digital signature', 'key encipherment', 'client auth'],
        expirationSeconds: 3600,
      },
    };
    await check(where, { run: 'create -f -', stdin: JSON.stringify(csr), out: ['created'] });
    await check(where, { run: 'get csr', out: [/agent .*Pending/] });
    await check(where, { run: 'certificate approve agent', out: ['approved'] });
    await check(where, {
      run: "wait csr/agent --for=jsonpath='{.status.certificate}' --timeout=240s",
      out: ['condition met'],
    });
    await check(where, { run: 'get csr', out: [/agent .*Approved,Issued/] });
    const { stdout } = await kubectl(where, { run: 'get csr agent -o jsonpath={.status.certificate}' });
    writeFileSync(join(directory, 'agent.crt'), Buffer.from(stdout, 'base64'));
    writeFileSync(join(directory, 'agent.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const ca = join(directory, 'data', 'pki', 'ca.crt');
    const run = `--kubeconfig=/dev/null --server=${hub.url} --certificate-authority=${ca} --client-certificate=${join(directory, 'agent.crt')} --client-key=${join(directory, 'agent.key')} auth whoami`;
    await check(where, { run, out: ['agent', 'agents', 'system:authenticated'] });
  });

  it('denies a certificate request', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const request = await makeCertificateRequest(privateKey, { commonName: 'x', organization: 'y' });
    const spec = {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    };
    const csr = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'bad' },
      spec,
    };
    await check(where, { run: 'create -f -', stdin: JSON.stringify(csr), out: ['created'] });
    await check(where, { run: 'certificate deny bad', out: ['denied'] });
    await check(where, { run: 'get csr bad', out: [/Denied/] });
  });

  it('applies the examples, which grant what they say', async () => {
    const examples = join(import.meta.dirname, '../../examples/embedded-hub');
    await check(where, { run: `apply -f ${examples}`, out: ['serviceaccount/agent-bootstrap created'] });
    const agent = '--as=system:serviceaccount:open-cluster-management:agent-bootstrap';
    await check(where, { run: `auth can-i create managedclusters ${agent}`, out: ['yes'] });
    await check(where, { run: `auth can-i list secrets ${agent}`, exitCode: 1, out: ['no'] });
    const controller = '--as=applicationset-controller -n argocd';
    await check(where, { run: `auth can-i watch placementdecisions ${controller}`, out: ['yes'] });
    await check(where, { run: `auth can-i delete namespaces ${controller}`, exitCode: 1, out: ['no'] });
  });

  it('prunes an apply set', async () => {
    const manifest = (name: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\n`;
    const apply = 'apply -n default --prune --applyset=fleet -f -';
    const alpha = { KUBECTL_APPLYSET: 'true' };
    await check(where, {
      run: apply,
      env: alpha,
      stdin: `${manifest('one')}\n---\n${manifest('two')}`,
      out: ['one', 'two'],
    });
    await check(where, { run: apply, env: alpha, stdin: manifest('one'), out: ['two pruned'] });
    await check(where, { run: 'get configmap two -n default', fails: 'not found' });
  });
});

describe('the battery', () => {
  it('has at least 85 different commands', () => {
    const commands = new Set(
      KUBECTL_BATTERY.flatMap(([, steps]) => steps.map(({ run, stdin }) => `${run} ${stdin ?? ''}`)),
    );
    expect(commands.size).toBeGreaterThanOrEqual(85);
  });
});
