import type { RequestOptions } from 'node:https';
import type { AuthProvider } from './kubeconfig-entries.ts';

const providers = new WeakMap<AuthProvider, Promise<() => Promise<string | undefined>>>();

/**
 * The Authorization header of the identity provider `oidc`. client-node implements it: it caches the ID token, and
 * requests another one from the issuer when it has expired. It is imported on first use, because its 800 modules of
 * generated models would delay every start by a third of a second.
 * @throws Error of the issuer, or of the connection to it
 */
export async function oidcAuthorization(provider: AuthProvider): Promise<string | undefined> {
  let known = providers.get(provider);
  if (known === undefined) {
    known = loadProvider(provider);
    providers.set(provider, known);
  }
  return (await known)();
}

async function loadProvider({ name, config }: AuthProvider): Promise<() => Promise<string | undefined>> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const client = new KubeConfig();
  client.loadFromClusterAndUser(
    { name, server: 'https://unused.invalid', skipTLSVerify: false },
    { name, authProvider: { name, config: { ...config } } },
  );
  return async () => {
    const options: RequestOptions = { headers: {} };
    await client.applyToHTTPSOptions(options);
    const { Authorization } = options.headers as { readonly Authorization?: string };
    return Authorization;
  };
}
