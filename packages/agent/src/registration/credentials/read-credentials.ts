import { X509Certificate } from 'node:crypto';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { parseKubeconfig } from '@berth/kube/config/parse-kubeconfig';
import { RotatingKubeConfig } from '@berth/kube/config/rotating-kube-config';
import { isKeyPair } from '@berth/kube/proxy/tls-material';
import type { AgentIdentity } from '@berth/ocm/registration/names';
import { changedFields, type HubEntry, sameHub } from '../../rules/registration/hub-entry.ts';
import {
  agentSubject,
  type HeldCertificate,
  planCertificate,
} from '../../rules/registration/plan-certificate.ts';
import { type CredentialFiles, hubEntryOf } from './credential-store.ts';

/** The credentials of an agent for its hub, or why it must start with the bootstrap kubeconfig. */
export type HubCredentials =
  | {
      readonly kind: 'usable';
      readonly config: RotatingKubeConfig;
      readonly held: HeldCertificate;
      readonly entry: HubEntry;
    }
  | { readonly kind: 'unusable'; readonly why: string };

interface CredentialCheck {
  readonly identity: AgentIdentity;
  /** The hub of the bootstrap kubeconfig. */
  readonly bootstrap: HubEntry;
  readonly nowMs: number;
  /** The folder of the store. */
  readonly folder: string;
  /** The environment, with the variables that set a proxy. */
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Source of the rule: open-cluster-management.io/ocm `pkg/registration/register/common.go` (IsHubKubeConfigValid). A
 * kubeconfig that cannot be parsed is replaced like a missing one.
 */
export function readCredentials(files: CredentialFiles, check: CredentialCheck): HubCredentials {
  const { identity, bootstrap, nowMs, folder, env } = check;
  const held = readCertificate(files['tls.crt'], files['tls.key']);
  const plan = planCertificate(held, { subject: agentSubject(identity), nowMs, share: 0 });
  if (held === undefined || plan.kind === 'request')
    return { kind: 'unusable', why: REASONS[plan.kind === 'request' ? plan.why : 'missing'] };
  const parts = parseOrUndefined(files.kubeconfig, folder);
  if (parts === undefined) return { kind: 'unusable', why: 'there is no valid hub kubeconfig' };
  const entry = hubEntryOf(new KubeConfig(parts, env));
  if (!sameHub(entry, bootstrap)) {
    const fields = changedFields(entry, bootstrap).join(', ');
    return {
      kind: 'unusable',
      why: `the bootstrap kubeconfig names another hub: ${fields} of the cluster differ`,
    };
  }
  const pair = { certPem: files['tls.crt'] ?? '', keyPem: files['tls.key'] ?? '' };
  return { kind: 'usable', config: new RotatingKubeConfig(parts, pair, env), held, entry };
}

const REASONS = {
  missing: 'there is no certificate with its key',
  expired: 'the certificate has expired',
  subject: 'the certificate is for another cluster or agent',
  renewal: 'the certificate has expired',
} as const;

function parseOrUndefined(
  text: string | undefined,
  folder: string,
): ReturnType<typeof parseKubeconfig> | undefined {
  if (text === undefined) return undefined;
  try {
    return parseKubeconfig(text, folder);
  } catch {
    return undefined;
  }
}

/** Parses a certificate together with its key. Undefined if one is missing, is not PEM, or does not belong to the other. */
export function readCertificate(
  certPem: string | undefined,
  keyPem: string | undefined,
): HeldCertificate | undefined {
  if (!certPem || !keyPem || !isKeyPair(certPem, keyPem)) return undefined;
  const certificate = new X509Certificate(certPem);
  // Nothing in it is escaped, unlike in `subject`.
  const subject = certificate.toLegacyObject().subject as unknown as Readonly<
    Record<string, string | readonly string[] | undefined>
  >;
  const texts = (field: string): readonly string[] => [subject[field] ?? []].flat();
  return {
    commonName: texts('CN').join(),
    organizations: texts('O'),
    organizationalUnits: texts('OU'),
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
  };
}
