import { BugError, InputError } from '@berth/runtime/errors';
import { apiVersionOf, CUSTOM_RESOURCE_DEFINITION, type KindInfo, SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ListOptions, ObjectKey, ObjectList } from '@berth/kube/model/kube-api';
import type { Inventory } from '../../../core/preview/inventory/inventory.ts';
import { CLUSTER_FIELD } from '../../../core/preview/inventory/redact-object.ts';
import { ReadOnlyKubeApi } from '@berth/kube/dry-run-kube-api';

/**
 * A hub that is read from an inventory. It answers reads as the real hub did when the inventory was written, so that
 * plans use the same code. A kind that could not be read then cannot be read now.
 */
export class InventoryApi extends ReadOnlyKubeApi implements KubeApi {
  readonly #inventory: Inventory;
  readonly #byKind = new Map<string, KubeObject[]>();

  constructor(inventory: Inventory) {
    super();
    this.#inventory = inventory;
    for (const object of inventory.objects) {
      const key = `${object.apiVersion}/${object.kind}`;
      const known = this.#byKind.get(key);
      const served = object.kind === SECRET.kind ? withData(object) : object;
      if (known === undefined) this.#byKind.set(key, [served]);
      else known.push(served);
    }
  }

  get server(): string {
    return this.#inventory.hub;
  }

  async get(kind: KindInfo, { namespace, name }: ObjectKey): Promise<KubeObject | undefined> {
    return this.#objects(kind).find(
      ({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace,
    );
  }

  async list(kind: KindInfo, options: ListOptions = {}): Promise<ObjectList> {
    return {
      items: this.#objects(kind).filter((object) => isSelected(object, options)),
      resourceVersion: '0',
    };
  }

  async resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    const found = this.#inventory.kinds.find(
      (info) => info.kind === kind && apiVersionOf(info) === apiVersion,
    );
    // A missing definition means that the kind is not served only if all definitions are known.
    if (found === undefined) this.#requireRead(CUSTOM_RESOURCE_DEFINITION);
    return found;
  }

  async *watch(): AsyncGenerator<never> {
    throw readOnly();
  }

  protected refused(): BugError {
    return readOnly();
  }

  #objects(kind: KindInfo): readonly KubeObject[] {
    this.#requireRead(kind);
    return this.#byKind.get(`${apiVersionOf(kind)}/${kind.kind}`) ?? [];
  }

  #requireRead({ group, kind }: KindInfo): void {
    const unread = this.#inventory.unread.find((one) => one.kind === kind && one.group === group);
    if (unread === undefined) return;
    throw new InputError(`could not be read when the inventory was written: ${unread.problem}`, {
      code: 'inventory.unread',
      subject: kind,
    });
  }
}

/** Supports existence and equality of labels, and equality of the name. Plans use no other selectors. */
function isSelected({ metadata }: KubeObject, options: ListOptions): boolean {
  const { namespace = '', labelSelector = '', fieldSelector = '' } = options;
  if (namespace !== '' && metadata.namespace !== namespace) return false;
  if (fieldSelector !== '' && fieldSelector !== `metadata.name=${metadata.name}`) return false;
  if (labelSelector === '') return true;
  const at = labelSelector.indexOf('=');
  const actual = metadata.labels?.[at === -1 ? labelSelector : labelSelector.slice(0, at)];
  return at === -1 ? actual !== undefined : actual === labelSelector.slice(at + 1);
}

/** A Secret as the hub serves it: with the recorded data of a cluster, encoded again. */
function withData({ [CLUSTER_FIELD]: cluster = {}, ...secret }: KubeObject): KubeObject {
  const texts = Object.entries(cluster as Readonly<Record<string, string>>);
  const data = texts.map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')]);
  return { ...secret, data: Object.fromEntries(data) };
}

function readOnly(): BugError {
  return new BugError('cannot be written or watched', { code: 'inventory.read-only', subject: 'Inventory' });
}
