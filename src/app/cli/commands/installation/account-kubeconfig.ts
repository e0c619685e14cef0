import { readFile } from 'node:fs/promises';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  type ServerEntry,
  tokenKubeconfig,
} from '../../../../core/registration/install/bootstrap-objects.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import type { HubFlags } from '../../flags/hub-flags.ts';

/** Requested lifetime of a token; the server may issue a shorter one. */
const YEAR_SECONDS = 365 * 86_400;

/** The address and authority of the server in the current context of a kubeconfig. */
export async function serverEntry(io: CliIo, { kubeconfig, context }: HubFlags): Promise<ServerEntry> {
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const cluster = loadKubeConfig({ file: kubeconfig, context, env: io.env }).getCurrentCluster();
  const { caFile, caData, proxyUrl, server = '' } = cluster ?? {};
  const read = async (file: string): Promise<string> => (await readFile(file)).toString('base64');
  return { server, proxyUrl, caData: caFile === undefined ? caData : await read(caFile) };
}

/** A kubeconfig of a service account, for a process that is not a pod. */
export async function accountKubeconfig(
  api: KubeApi,
  account: { readonly namespace: string; readonly name: string },
  entry: ServerEntry,
): Promise<string> {
  const { requestToken } = await import('@berth/kube/request-token');
  const token = await requestToken(api, account, YEAR_SECONDS);
  const { name } = account;
  const names = { cluster: 'cluster', user: name, context: name };
  return `${JSON.stringify(tokenKubeconfig(names, entry, token))}\n`;
}
