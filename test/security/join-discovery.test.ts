import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../src/app/cli/program.ts';
import { hubAdmission } from '../../src/controllers/admission/hub-admission.ts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority, type PemPair } from '@berth/kube/x509/self-signed-authority';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { OCM_HUB } from '../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { makeCliIo } from '../app/cli-harness.ts';
import { startRecordingProxies } from '../fakes/recording-proxies.ts';

/** A server that stands between a cluster and its hub, and notes what it is asked. */
class ManInTheMiddle {
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param shows sent in the handshake after its own certificate, and as the authority in cluster-info */
  static async listen(own: CertificateAuthority, shows: string): Promise<ManInTheMiddle> {
    const pair: PemPair = await own.issueServing(['127.0.0.1'], Date.now(), 3_600_000);
    const data = Buffer.from(shows).toString('base64');
    const kubeconfig = `clusters:\n- name: ''\n  cluster: {certificate-authority-data: ${data}}\n`;
    const answer = JSON.stringify({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {},
      data: { kubeconfig },
    });
    const server = createServer({ cert: `${pair.certPem}${shows}`, key: pair.keyPem });
    const man = new ManInTheMiddle(server);
    server.on('request', ({ url, headers }, response) => {
      man.asked.push(`${url ?? ''} ${headers.authorization ?? 'nobody'}`);
      response.setHeader('content-type', 'application/json').end(answer);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return man;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('berth join with the hash of the authority', () => {
  let dir: string;
  let hub: RunningHub;
  const open: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-discovery-'));
    hub = await startHub({
      ...OCM_HUB,
      dataDir: join(dir, 'hub'),
      members: ['cluster1'],
      admission: hubAdmission(),
    });
  });
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
    await hub.close();
    rmSync(dir, { recursive: true });
  });

  async function berth(...args: readonly string[]) {
    const env = { BERTH_HOME: join(dir, 'home'), KUBECONFIG: hub.adminKubeconfigPath };
    const { io, stdout, stderr } = makeCliIo({ env, cwd: dir });
    return { code: await runCli(args, io), stdout: stdout(), stderr: stderr() };
  }

  /**
   * The words of the command that the hub prints.
   * @param server where it leads instead of to the hub
   */
  async function printedCommand(server = hub.url): Promise<readonly string[]> {
    await berth('init', '--no-start');
    const { stdout } = await berth('get', 'token');
    const words = (/^berth (join .*)$/m.exec(stdout)?.[1] ?? '').split(' ');
    // With --no-start no agent asks the hub, so nothing would end the wait.
    const edited = words
      .filter((word) => word !== '--wait')
      .map((word) => (word === 'CLUSTER_NAME' ? 'edge' : word.replace(hub.url, server)));
    return [...edited, '--context', 'cluster1', '--no-start'];
  }

  async function between(own: PemPair, shows: string): Promise<ManInTheMiddle> {
    const man = await ManInTheMiddle.listen(await CertificateAuthority.load(own), shows);
    open.push(() => man.close());
    return man;
  }

  const without = (words: readonly string[], option: string): readonly string[] =>
    words.filter((word, index) => word !== option && words[index - 1] !== option);
  const HASH = '--discovery-token-ca-cert-hash';
  const hubCa = (): string => {
    const [, data = ''] =
      /certificate-authority-data: (\S+)/.exec(readFileSync(hub.adminKubeconfigPath, 'utf8')) ?? [];
    return Buffer.from(data, 'base64').toString();
  };

  it('joins the hub of the hash, and trusts its authority from then on, without a warning', async () => {
    const words = await printedCommand();
    expect(words).toContain(HASH);
    expect(await berth(...words)).toMatchObject({ code: 0, stderr: '' });
    const [, folder = ''] = /--clusters=(\S+)agent\.yaml/.exec((await berth(...words)).stdout) ?? [];
    const kept = JSON.parse(readFileSync(join(folder, 'bootstrap.kubeconfig'), 'utf8')) as {
      readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
    };
    expect(kept.clusters[0]?.cluster).toEqual({
      server: hub.url,
      'certificate-authority-data': Buffer.from(hubCa()).toString('base64'),
    });
  });

  it('goes through a proxy with both questions', async () => {
    const ownAuthority = createAuthority('proxy', Date.now());
    const own = await CertificateAuthority.load(ownAuthority);
    const proxies = await startRecordingProxies(await own.issueServing(['127.0.0.1'], Date.now(), 3_600_000));
    open.push(() => proxies.close());
    writeFileSync(join(dir, 'proxy.pem'), ownAuthority.certPem);
    const through = ['--proxy-url', `https://127.0.0.1:${proxies.httpsPort}`];
    const words = await printedCommand();
    // A proxy is checked, also by the question that checks no hub.
    expect((await berth(...words, ...through)).code).toBe(1);
    expect(proxies.taken()).toEqual([]);
    expect(await berth(...words, ...through, '--proxy-ca-file', 'proxy.pem')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const asked = proxies.taken().map((one) => one.asked);
    expect(asked.length).toBeGreaterThanOrEqual(2);
    expect(new Set(asked)).toEqual(new Set([`CONNECT ${new URL(hub.url).host}`]));
  });

  it('sends no token to the hub itself when the hash is of another', async () => {
    const words = (await printedCommand()).map((word) =>
      word.startsWith('sha256:') ? `sha256:${'0'.repeat(64)}` : word,
    );
    const { code, stderr } = await berth(...words);
    expect(code).toBe(1);
    expect(stderr).toContain(`${HASH}: no authority of the hub has this hash; the token was not sent`);
  });

  it.each<[string, () => string]>([
    ['its own authority', () => ''],
    ['the authority of the hub', hubCa],
    ['both', hubCa],
  ])('shows a man in the middle no token who shows %s', async (what, shows) => {
    const own = createAuthority('middle', Date.now());
    const man = await between(
      own,
      what === 'the authority of the hub' ? shows() : `${shows()}${own.certPem}`,
    );
    const { code, stderr } = await berth(...(await printedCommand(man.url)));
    expect(code).toBe(1);
    expect(stderr).not.toBe('');
    expect(man.asked).toEqual(['/api/v1/namespaces/kube-public/configmaps/cluster-info nobody']);
  });

  it('without a hash: the authority is asked for without the token, and named in a warning', async () => {
    const words = without(await printedCommand(), HASH);
    const { code, stderr } = await berth(...words);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning: .*is not verified.*--discovery-token-ca-cert-hash sha256:[0-9a-f]{64}$/m,
    );
    // Only who has a certificate of the authority that was named gets the token; here nobody has.
    const man = await between(createAuthority('middle', Date.now()), hubCa());
    const elsewhere = without(await printedCommand(man.url), HASH);
    expect((await berth(...elsewhere)).code).toBe(1);
    expect(man.asked).toEqual(['/api/v1/namespaces/kube-public/configmaps/cluster-info nobody']);
  });

  it('a file and a hash have to agree', async () => {
    writeFileSync(join(dir, 'ca.pem'), createAuthority('other', Date.now()).certPem);
    const words = await printedCommand();
    expect(await berth(...words, '--ca-file', 'ca.pem')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the token was not sent') as string,
    });
    writeFileSync(join(dir, 'ca.pem'), hubCa());
    expect(await berth(...words, '--ca-file', 'ca.pem')).toMatchObject({ code: 0, stderr: '' });
  });
});
