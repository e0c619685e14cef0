import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CUSTOM_RESOURCE_DEFINITION,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, ObjectMeta, OwnerReference } from '@berth/kube/model/object-meta';
import { InputError } from '@berth/runtime/errors';
import type { JsonObject } from '@berth/runtime/json/json-value';
import {
  ADMISSION_NAME,
  CONVERTED,
  conversionBy,
  converterOf,
  hasAll,
  type WebhookAddress,
  webhookConfigurations,
} from '../../core/registration/webhooks/webhook-configurations.ts';
import { hasOcmOperator } from '../installation/installed-state.ts';

const NAMED = { namespace: '', name: ADMISSION_NAME };
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const WRITE = { fieldManager: 'berth-admission' };

/**
 * The role that lets Berth write the webhooks. It is a part of every installation, so it owns them: without the
 * role, the hub removes the webhooks itself, though no process of Berth runs any more.
 * @returns undefined if Berth has its rights from elsewhere, or from a role of an older version, which does not let it look
 */
export async function webhookOwner(hub: KubeApi): Promise<OwnerReference | undefined> {
  let role: KubeObject | undefined;
  try {
    role = await hub.get(CLUSTER_ROLE, NAMED);
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'kube.forbidden') throw error;
  }
  const { uid, deletionTimestamp } = role?.metadata ?? {};
  if (uid === undefined || deletionTimestamp !== undefined) return undefined;
  return { apiVersion: apiVersionOf(CLUSTER_ROLE), kind: CLUSTER_ROLE.kind, name: ADMISSION_NAME, uid };
}

/** Whether an object is owned as it should be. Without an owner nothing is asked of it. */
export function isOwned(metadata: ObjectMeta | undefined, owner: OwnerReference | undefined): boolean {
  return owner === undefined || hasAll(metadata?.ownerReferences, [owner]);
}

/**
 * Writes the webhook configurations on the hub, so that its API server calls the webhooks, and corrects them when they
 * differ.
 *
 * @param trusted authorities of the serving certificate, PEM
 * @param owner with which they end
 * @returns the kinds of the configurations that were written
 * @throws the errors of the hub
 */
export async function ensureConfigurations(
  hub: KubeApi,
  address: WebhookAddress,
  { trusted, owner }: { readonly trusted: string; readonly owner: OwnerReference | undefined },
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const { kind, webhooks } of webhookConfigurations(address, base64(trusted))) {
    const live = await hub.get(kind, NAMED);
    if (hasAll(live?.['webhooks'], webhooks) && isOwned(live?.metadata, owner)) continue;
    const typed = { apiVersion: apiVersionOf(kind), kind: kind.kind };
    const owned = owner && { ownerReferences: [owner] };
    const metadata = { name: ADMISSION_NAME, ...live?.metadata, ...owned };
    const wanted = { ...typed, metadata, webhooks };
    if (live === undefined) await hub.create(kind, wanted, WRITE);
    else await hub.update(kind, wanted, WRITE);
    written.push(kind.kind);
  }
  return written;
}

/**
 * Makes the API server ask Berth when it converts add-ons from one version to the other, and asks it for one version
 * that needs this. Definitions that the hub does not have, and all definitions of OCM's operator, are left alone.
 *
 * @param trusted authorities of the serving certificate, PEM
 * @returns the names of the definitions that were written
 * @throws InputError if another program says who converts; the errors of the hub, also when it cannot convert
 */
export async function ensureConversions(
  hub: KubeApi,
  address: WebhookAddress,
  trusted: string,
): Promise<readonly string[]> {
  if (await hasOcmOperator(hub)) return [];
  const conversion = conversionBy(address, base64(trusted));
  const written: string[] = [];
  let isServed = false;
  for (const name of CONVERTED) {
    const live = await hub.get(CUSTOM_RESOURCE_DEFINITION, { namespace: '', name });
    const spec = live?.['spec'] as CrdSpec | undefined;
    if (live === undefined || spec === undefined || spec.versions.length < 2) continue;
    const converter = converterOf(live as unknown as JsonObject);
    if (converter === 'the API server') continue;
    if (converter === 'another program')
      throw new InputError(
        'another program says in spec.conversion who converts its versions; Berth does not',
        {
          code: 'admission.foreign-conversion',
          subject: `CustomResourceDefinition ${name}`,
          hint: 'set spec.conversion to {"strategy":"None"}, and Berth will convert them',
        },
      );
    isServed = true;
    if (hasAll(spec.conversion, conversion)) continue;
    const { resourceVersion } = live.metadata;
    const patch = { metadata: { resourceVersion }, spec: { conversion } };
    await hub.mergePatch(CUSTOM_RESOURCE_DEFINITION, { namespace: '', name }, patch, WRITE);
    written.push(name);
  }
  // A definition that has just changed is not served yet.
  if (isServed && written.length === 0) await hub.list({ ...CLUSTER_MANAGEMENT_ADDON, version: 'v1beta1' });
  return written;
}

interface CrdSpec {
  readonly versions: readonly unknown[];
  readonly conversion?: unknown;
}

/**
 * Makes the API server ask at this address no more. What asks elsewhere stays.
 * @returns the number of objects that were deleted or changed
 */
export async function removeWebhooks(hub: KubeApi, address: WebhookAddress): Promise<number> {
  let count = 0;
  for (const { kind, webhooks } of webhookConfigurations(address)) {
    const live = await hub.get(kind, NAMED);
    if (live === undefined || !hasAll(live['webhooks'], webhooks)) continue;
    if (await hub.delete(kind, NAMED, { uid: live.metadata.uid })) count += 1;
  }
  for (const name of CONVERTED) {
    const live = await hub.get(CUSTOM_RESOURCE_DEFINITION, { namespace: '', name });
    if (!hasAll((live?.['spec'] as CrdSpec | undefined)?.conversion, conversionBy(address))) continue;
    const { resourceVersion } = live?.metadata ?? {};
    const patch = {
      metadata: { resourceVersion },
      spec: { conversion: { strategy: 'None', webhook: null } },
    };
    await hub.mergePatch(CUSTOM_RESOURCE_DEFINITION, { namespace: '', name }, patch, WRITE);
    count += 1;
  }
  return count;
}
