import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { KubeApi } from '../../../src/core/ports.ts';
import { hubAdmission } from '../../../src/app/hub-admission.ts';
import { CertificateAuthority } from '../../../src/hub/auth/certificates/certificate-authority.ts';
import { createAuthority } from '../../../src/hub/auth/certificates/self-signed-authority.ts';
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

/** A real kube-apiserver with the signer of kube-controller-manager. Nothing collects garbage on it. */
export async function startRealMatrixHub(): Promise<MatrixHub> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-matrix-'));
  const [certificate, key] = [join(dir, 'ca.crt'), join(dir, 'ca.key')];
  const authority = createAuthority('agents', Date.now());
  writeFileSync(certificate, authority.certPem);
  writeFileSync(key, authority.keyPem, { mode: 0o600 });
  const hub = await RealHub.start([`--client-ca-file=${certificate}`]);
  const sign = (life: string): PeerProcess =>
    startPeer('kube-controller-manager', {
      args: [
        ...[
          `--kubeconfig=${hub.plane.kubeconfig}`,
          '--controllers=certificatesigningrequest-signing-controller',
        ],
        ...['--leader-elect=false', '--secure-port=0', `--cluster-signing-duration=${life}`],
        ...[`--cluster-signing-cert-file=${certificate}`, `--cluster-signing-key-file=${key}`],
      ],
      logFile: join(dir, `signer-${life}.log`),
    });
  // With the five minutes that the signer dates back: due when about half a minute is over.
  let signer = sign('2m');
  return {
    authority: new CertificateAuthority(authority),
    api: hub.api,
    kubeconfig: hub.plane.kubeconfig,
    signForAnHour: async () => {
      await signer.stop();
      signer = sign('1h');
    },
    close: async () => {
      await signer.stop();
      await hub.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
