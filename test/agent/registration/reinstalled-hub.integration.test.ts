import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { revokeUser } from '@berth/embedded-hub/maintenance/revoke-credentials';
import { OCM_HUB } from '../../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import type { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { HubSide } from './hub-side.ts';
import { BOOTSTRAP_USER, RegistrationWorld } from './registration-world.ts';

const AVAILABLE = 'ManagedClusterConditionAvailable';

/** Hubs one after the other at one address, whose certificate a load balancer could have: each knows its own clients only. */
describe('an agent whose hub was installed again at the same address', () => {
  let clock: SteeredClock;
  let member: RegistrationWorld;
  let dir: string;
  let caData: string;
  let port = 0;
  let running: { readonly hub: RunningHub; readonly api: HttpKubeApi } | undefined;

  beforeEach(async () => {
    clock = new SteeredClock();
    member = await RegistrationWorld.start(['cluster1'], clock);
    dir = mkdtempSync(join(tmpdir(), 'berth-reinstalled-'));
    port = 0;
    const own = createAuthority('balancer', Date.now());
    caData = Buffer.from(own.certPem).toString('base64');
    const authority = await CertificateAuthority.load(own);
    const pair = await authority.issueServing(['127.0.0.1'], Date.now(), 86_400_000);
    writeFileSync(join(dir, 'tls.crt'), pair.certPem);
    writeFileSync(join(dir, 'tls.key'), pair.keyPem);
  });
  afterEach(async () => {
    await member.close();
    await stop();
    rmSync(dir, { recursive: true });
  });

  const trusting = (kubeconfig: string): string =>
    kubeconfig.replaceAll(/certificate-authority-data: \S+/g, `certificate-authority-data: ${caData}`);

  /** @param data of the hub; one that is new has no objects, and other authorities for clients */
  async function start(data: string): Promise<HubSide> {
    const dataDir = join(dir, data);
    const hub = await startHub({
      ...OCM_HUB,
      ...{ dataDir, listen: { port }, admission: hubAdmission() },
      providedFiles: { serving: { certificate: join(dir, 'tls.crt'), key: join(dir, 'tls.key') } },
    });
    port = hub.port;
    const text = trusting(readFileSync(hub.adminKubeconfigPath, 'utf8'));
    const api = new HttpKubeApi({ config: loadKubeConfig({ text }), clock: systemClock });
    running = { hub, api };
    return new HubSide(api);
  }

  async function stop(): Promise<void> {
    running?.api.close();
    await running?.hub.close();
    running = undefined;
  }

  /** A bootstrap kubeconfig of this hub, in the place of the one before. */
  async function invite(data: string): Promise<void> {
    const asked = { dataDir: join(dir, data), user: BOOTSTRAP_USER, groups: [], cluster: '' };
    writeFileSync(join(dir, 'boot'), trusting(await issueKubeconfig(asked, Date.now())));
  }

  const startAgent = () =>
    member.run({ bootstraps: [() => loadKubeConfig({ file: join(dir, 'boot'), env: {} })] });
  const later =
    <T>(look: () => T) =>
    (): T => {
      clock.skip(5_000);
      return look();
    };
  const reasons = ({ entries }: SilentLogger): readonly unknown[] =>
    entries.filter(({ message }) => message === 'joining the hub').map(({ fields }) => fields['why']);
  /** PEM. */
  const certificate = (): string => readFileSync(join(member.folder(), 'tls.crt'), 'utf8');

  async function joins(hub: HubSide): Promise<void> {
    await expect.poll(later(() => hub.requests('cluster1'))).toHaveLength(1);
    await hub.decide('cluster1');
    await hub.accept('cluster1');
    await expect.poll(later(() => hub.condition('cluster1', AVAILABLE))).toBe('True');
  }

  it('registers again with the bootstrap kubeconfig, with one request', async () => {
    const first = await start('first');
    await first.prepare(BOOTSTRAP_USER);
    await invite('first');
    const agent = startAgent();
    await joins(first);
    const before = certificate();
    await stop();
    const second = await start('second');
    await second.prepare(BOOTSTRAP_USER);
    await invite('second');
    await joins(second);
    expect(certificate()).not.toBe(before);
    expect(await second.requests('cluster1')).toHaveLength(1);
    expect(reasons(agent.log)).toContain('the hub refuses the certificate');
  });

  it('goes on with its certificate when the hub that knows it comes back', async () => {
    const first = await start('first');
    await first.prepare(BOOTSTRAP_USER);
    await invite('first');
    const { log } = startAgent();
    await joins(first);
    const before = certificate();
    await stop();
    // Nobody invites the cluster here, and the token of the other hub is not known.
    await start('second');
    await expect.poll(later(() => reasons(log))).toContain('the hub refuses the certificate');
    await stop();
    const again = await start('first');
    const lease = await again.lease('cluster1');
    await expect.poll(later(() => again.lease('cluster1'))).not.toBe(lease);
    expect(certificate()).toBe(before);
    expect(await again.requests('cluster1')).toHaveLength(1);
  });

  it('a certificate that was revoked: registers again', async () => {
    const hub = await start('first');
    await hub.prepare(BOOTSTRAP_USER);
    await invite('first');
    startAgent();
    await joins(hub);
    const [, user = ''] = /CN=(.*)/.exec(new X509Certificate(certificate()).subject) ?? [];
    revokeUser(join(dir, 'first'), user, Date.now());
    await expect.poll(later(() => hub.requests('cluster1'))).toHaveLength(2);
    await hub.decide('cluster1');
    const lease = await hub.lease('cluster1');
    await expect.poll(later(() => hub.lease('cluster1'))).not.toBe(lease);
  });
});
