import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { CERTIFICATE_REQUEST } from '@berth/kube/model/kinds';
import { judgeClientRequest } from '../../../packages/embedded-hub/src/auth/certificates/client-signer.ts';
import type { JsonObject } from '@berth/embedded-hub/json/json-value';
import { sleep } from '@berth/runtime/loop/sleep';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { type PeerProcess, startPeer } from '../peers/peer-process.ts';
import { RealHub } from '../peers/real-hub.ts';

/** A hub without controllers of registration, of which certificates are signed. */
export interface MatrixHub {
  readonly api: KubeApi;
  /** Of an administrator. */
  readonly kubeconfig: string;
  /** From now on certificates have a life of an hour of which nothing is over. Before, they are due for renewal soon. */
  signForAnHour(): Promise<void>;
  /** What signs the certificates of agents. */
  readonly authority: CertificateAuthority;
  close(): Promise<void>;
}

const SIGN_POLL_MS = 100;
/** Of an hour, an agent renews when at most 25 % are left. */
export const BEHIND_MS = 48 * 60_000;

/** The embedded hub; its clock is behind until `signForAnHour`. */
export async function startEmbeddedMatrixHub(): Promise<MatrixHub> {
  const clock = new SteeredClock();
  clock.skip(-BEHIND_MS);
  const hub = await startEmbeddedHub({}, { clock, admission: hubAdmission() });
  const pki = (file: string): string => readFileSync(join(dirname(hub.kubeconfig), 'pki', file), 'utf8');
  return {
    authority: new CertificateAuthority({ certPem: pki('ca.crt'), keyPem: pki('ca.key') }),
    api: hub.api,
    kubeconfig: hub.kubeconfig,
    signForAnHour: async () => clock.skip(BEHIND_MS),
    close: hub.close,
  };
}

/**
 * A real kube-apiserver. The test signs the first request, of which most is over, and the signer of kube-controller-manager the others.
 * Nothing else runs on it, such as what collects garbage, if the test does not name it.
 */
export async function startRealMatrixHub(controllers: readonly string[] = []): Promise<MatrixHub> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-matrix-'));
  const [certificate, key] = [join(dir, 'ca.crt'), join(dir, 'ca.key')];
  const pair = createAuthority('agents', Date.now());
  writeFileSync(certificate, pair.certPem);
  writeFileSync(key, pair.keyPem, { mode: 0o600 });
  const authority = new CertificateAuthority(pair);
  const hub = await RealHub.start([`--client-ca-file=${certificate}`]);
  const sign = (): PeerProcess =>
    startPeer('kube-controller-manager', {
      args: [
        ...[
          `--kubeconfig=${hub.plane.kubeconfig}`,
          `--controllers=${['certificatesigningrequest-signing-controller', ...controllers].join(',')}`,
        ],
        ...['--leader-elect=false', '--secure-port=0', '--cluster-signing-duration=1h'],
        ...[`--cluster-signing-cert-file=${certificate}`, `--cluster-signing-key-file=${key}`],
      ],
      logFile: join(dir, 'signer.log'),
    });
  const over = new AbortController();
  const signing = signFirstRequest(hub.api, authority, over.signal);
  let signer: PeerProcess | undefined;
  return {
    authority,
    api: hub.api,
    kubeconfig: hub.plane.kubeconfig,
    signForAnHour: async () => {
      over.abort();
      await signing;
      signer ??= sign();
    },
    close: async () => {
      over.abort();
      await signing;
      await signer?.stop();
      await hub.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Signs the first request that is approved, with an hour of which so much is over that it is due. */
async function signFirstRequest(
  api: KubeApi,
  authority: CertificateAuthority,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const [csr] = (await api.list(CERTIFICATE_REQUEST)).items.filter(({ status }) =>
      JSON.stringify(status ?? {}).includes('"type":"Approved"'),
    );
    const verdict = csr && judgeClientRequest(csr['spec'] as JsonObject);
    if (csr !== undefined && verdict?.kind === 'sign') {
      const pem = await authority.signClientKey(verdict, Date.now() - BEHIND_MS);
      const status = { certificate: Buffer.from(pem).toString('base64') };
      const key = { namespace: '', name: csr.metadata.name };
      await api.mergePatch(CERTIFICATE_REQUEST, key, { status }, { subresource: 'status' });
      return;
    }
    // fixed wait: the pace of a poll
    await sleep(systemClock, SIGN_POLL_MS, signal);
  }
}
