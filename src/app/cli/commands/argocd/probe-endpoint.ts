import type { ProbeResult } from '../../../../../plugin/doctor/argo-facts.ts';
import { GETPARAMS_PATH } from '../../../../../plugin/getparams-path.ts';

const TIMEOUT_MS = 10_000;

/** Sends a request like Argo CD's, but without a placement: a healthy endpoint responds with 400. */
export async function probeEndpoint(baseUrl: string, token: string): Promise<ProbeResult> {
  try {
    const response = await fetch(`${baseUrl.replace(/\/$/, '')}${GETPARAMS_PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ applicationSetName: 'berth-argocd-doctor', input: {} }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { message = '' } = parsed(await response.text());
    return { kind: 'answered', status: response.status, message };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const { code = '' } = cause as { readonly code?: string };
    return { kind: 'failed', code, message: cause instanceof Error ? cause.message : String(cause) };
  }
}

function parsed(text: string): { readonly message?: string } {
  try {
    return JSON.parse(text) as { readonly message?: string };
  } catch {
    return { message: text.slice(0, 200) };
  }
}
