import type { ServerEndpoints } from './model/kube-api.ts';

/** The `gitVersion` of the server; undefined if it does not report one. */
export async function serverVersion(server: ServerEndpoints): Promise<string | undefined> {
  try {
    const { statusCode, text } = await server.probe('/version');
    const { gitVersion } = JSON.parse(text) as { readonly gitVersion?: unknown };
    return statusCode === 200 && typeof gitVersion === 'string' ? gitVersion : undefined;
  } catch {
    return undefined;
  }
}
