import { apiVersionOf } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import {
  ADMISSION_NAME,
  hasAll,
  type WebhookAddress,
  webhookConfigurations,
} from '../../core/registration/webhooks/webhook-configurations.ts';

const WRITE = { fieldManager: 'berth-admission' };

/**
 * Writes the webhook configurations on the hub, so that its API server calls the webhooks, and corrects them when they
 * differ.
 *
 * @param trusted authorities of the serving certificate, PEM
 * @returns the kinds of the configurations that were written
 * @throws the errors of the hub
 */
export async function ensureConfigurations(
  hub: KubeApi,
  address: WebhookAddress,
  trusted: string,
): Promise<readonly string[]> {
  const written: string[] = [];
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  for (const { kind, webhooks } of webhookConfigurations(address, trusted, base64)) {
    const live = await hub.get(kind, { namespace: '', name: ADMISSION_NAME });
    if (live !== undefined && hasAll(live['webhooks'], webhooks)) continue;
    const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind };
    const metadata = live?.metadata ?? { name: ADMISSION_NAME };
    const wanted = { ...typed, metadata, webhooks };
    if (live === undefined) await hub.create(kind, wanted, WRITE);
    else await hub.update(kind, wanted, WRITE);
    written.push(kind.kind);
  }
  return written;
}
