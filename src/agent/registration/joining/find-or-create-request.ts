import { z } from 'zod';
import type { AgentIdentity } from '../../../core/registration/agent-identity.ts';
import { makeRequest, type OwnRequest } from '../certificate/make-request.ts';
import { readCertificate } from '../certificate/read-certificate.ts';
import type { CredentialFiles, CredentialStore } from '../credentials/credential-store.ts';

const KEPT = z.object({
  server: z.string(),
  cluster: z.string(),
  agent: z.string(),
  keyPem: z.string(),
  requestPem: z.string(),
});

interface OpenRequestOptions {
  readonly server: string;
  readonly identity: AgentIdentity;
  readonly store: CredentialStore;
}

/**
 * The open request at this hub, or a new one. Its key is stored before the hub receives it, so that an agent that
 * crashes at any moment continues with the same request.
 */
export async function findOrCreateRequest(options: OpenRequestOptions): Promise<OwnRequest> {
  return keptRequest(await options.store.read(), options) ?? newRequest(options);
}

/** Instead of one that was refused. */
export async function newRequest({ server, identity, store }: OpenRequestOptions): Promise<OwnRequest> {
  const made = makeRequest(identity);
  await store.write({
    'cluster-name': identity.cluster,
    'agent-name': identity.agent,
    'certificate-request.json': JSON.stringify({ server, ...identity, ...made }),
  });
  return made;
}

function keptRequest(
  files: CredentialFiles,
  { server, identity }: OpenRequestOptions,
): OwnRequest | undefined {
  const parsed = KEPT.safeParse(parsedJson(files['certificate-request.json']));
  if (!parsed.success) return undefined;
  const { keyPem, requestPem, ...kept } = parsed.data;
  if (kept.server !== server || kept.cluster !== identity.cluster || kept.agent !== identity.agent)
    return undefined;
  // Its certificate is in use, and a key is used for only one certificate.
  return readCertificate(files['tls.crt'], keyPem) === undefined ? { keyPem, requestPem } : undefined;
}

function parsedJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
