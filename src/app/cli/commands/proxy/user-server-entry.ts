import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { InputError } from '@berth/runtime/errors';
import type { ServerEntry } from '../../../../core/registration/install/bootstrap-objects.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { withHub } from '../../flags/hub-flags.ts';
import { namespaceAndName, positiveDuration, wrongOption } from '../../flags/option-values.ts';
import type { UserFlags } from './proxy-flags.ts';

/** The user server, and a token for it. */
export interface UserServerAccess {
  readonly entry: ServerEntry;
  readonly token: string;
}

/** @throws InputError if there is no user server, or no token */
export async function userServerAccess(io: CliIo, flags: UserFlags): Promise<UserServerAccess> {
  const { serviceAccount } = flags;
  const account =
    serviceAccount === undefined ? undefined : namespaceAndName('--service-account', serviceAccount);
  const seconds = Math.round(positiveDuration('--duration', flags.duration) / 1_000);
  if (flags.server === undefined && flags.certificateAuthority !== undefined)
    throw wrongOption('--certificate-authority', 'has no effect without --server URL');
  return withHub(io, flags, async (hub) => {
    const entry = await entryOf(io, hub, flags);
    if (account === undefined) return { entry, token: await ownToken(io, flags) };
    const { requestToken } = await import('@berth/kube/request-token');
    return { entry, token: await requestToken(hub, account, seconds) };
  });
}

async function entryOf(io: CliIo, hub: KubeApi, flags: UserFlags): Promise<ServerEntry> {
  const { server, certificateAuthority: file, namespace } = flags;
  if (server !== undefined) {
    const ca = file === undefined ? undefined : await readFile(resolve(io.cwd, file));
    return { server: server.replace(/\/+$/, ''), caData: ca?.toString('base64') };
  }
  const { USER_SERVER_CONFIG: name } = await import('@berth/access/addon/cluster-proxy');
  const configMap = await hub.get(CONFIG_MAP, { namespace, name });
  const { url, 'ca.crt': ca } = (configMap?.['data'] ?? {}) as Readonly<Record<string, string | undefined>>;
  if (url !== undefined && ca !== undefined)
    return { server: url, caData: Buffer.from(ca).toString('base64') };
  throw new InputError('does not say where the user server is', {
    ...{ code: 'access.no-server', subject: `ConfigMap ${namespace}/${name}` },
    hint: 'berth proxy serve writes it; or give --server and --certificate-authority',
  });
}

async function ownToken(io: CliIo, { kubeconfig, context }: UserFlags): Promise<string> {
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const config = loadKubeConfig({ file: kubeconfig, context, env: io.env });
  const { authorization } = await config.credentials({ clock });
  const [, token] = /^Bearer (.+)$/.exec(authorization ?? '') ?? [];
  if (token !== undefined) return token;
  throw new InputError('has no token, and the user server knows users by their token', {
    ...{
      code: 'access.no-token',
      subject: `user of the kubeconfig "${config.getCurrentUser()?.name ?? ''}"`,
    },
    hint: 'act as an account of the hub: --service-account NAMESPACE/NAME',
  });
}
