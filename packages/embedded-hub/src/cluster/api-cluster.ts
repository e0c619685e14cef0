import { createHash } from 'node:crypto';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { approvalCheck, approvalRules, subjectRestriction } from '../admission/certificate-request-checks.ts';
import { escalationCheck } from '../admission/escalation.ts';
import { legacyTokenNotice } from '../admission/legacy-tokens.ts';
import { ownerReferencesCheck } from '../admission/owner-references.ts';
import { paramRightsCheck } from '../admission/param-rights.ts';
import { Aggregator } from '../aggregation/aggregator.ts';
import type { Credentials } from '../auth/authenticate.ts';
import { ClientCertificates } from '../auth/certificates/client-certificates.ts';
import { ClientCaFile, ExternalCertificates } from '../auth/certificates/external-certificates.ts';
import type { ClusterAuthorities } from '../auth/certificates/key-store.ts';
import { Authorizer, RBAC_GROUP } from '../auth/rbac/authorizer.ts';
import type { Revocations } from '../auth/tokens/revocations.ts';
import {
  readTokenKeys,
  type ServiceAccountTokens,
  type TokenOptions,
} from '../auth/tokens/service-account-tokens.ts';
import { TokenAuthFile } from '../auth/tokens/token-auth-file.ts';
import type { TokenFile } from '../auth/tokens/token-file.ts';
import { Discovery } from '../discovery/serve-discovery.ts';
import { type JsonObject, objectAt, textAt } from '../json/json-value.ts';
import type { LogIdentity } from '../log/append-log.ts';
import { PolicySet } from '../policies/policy-set.ts';
import {
  type Cluster,
  ListSnapshots,
  metadataOf,
  timestamp,
  type WrittenObject,
} from '../request/cluster.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { definitionFromCrd, establishedStatus, isEstablished } from '../scheme/crd.ts';
import { createScheme, type GivenKinds } from '../scheme/create-scheme.ts';
import { Scheme } from '../scheme/scheme.ts';
import { type GivenObject, ObjectStore } from '../store/object-store.ts';
import { stampVersion, StoredObject } from '../store/stored-object.ts';
import { ADMISSION_GROUP } from '../webhooks/admission/webhook-configurations.ts';
import { Conversions } from '../webhooks/conversions.ts';
import { WebhookClients } from '../webhooks/webhook-clients.ts';
import { forbidden } from '../wire/status-errors.ts';
import { CRD_STRATEGY } from '../write/strategy/extension-strategies.ts';
import type { AdmissionCheck } from '../write/write-request.ts';

export interface ApiClusterOptions {
  /** '' for the hub itself. */
  readonly name: string;
  readonly directory: string;
  readonly identity: Partial<LogIdentity>;
  readonly authorities: ClusterAuthorities;
  readonly tokens: TokenFile;
  /** External credentials that the cluster accepts. */
  readonly external?: ExternalCredentials | undefined;
  readonly revocations: Revocations;
  readonly serviceAccounts: ServiceAccountTokens;
  readonly kinds: GivenKinds | undefined;
  /** Their definitions, as clients read them. */
  readonly definitions: readonly GivenObject[];
  readonly admission: readonly AdmissionCheck[];
  readonly legacyTokenSecrets: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onFatal: (error: unknown) => void;
}

/** Credentials that the cluster accepts but did not issue. */
interface ExternalCredentials {
  readonly certificates?: ExternalCertificates | undefined;
  readonly tokens?: TokenAuthFile | undefined;
}

/** One Kubernetes API with its store, authentication and controllers: the hub or a member. */
export class ApiCluster implements Cluster {
  readonly name: string;
  readonly scheme: Scheme;
  readonly store: ObjectStore;
  readonly authorizer: Authorizer;
  readonly admission: readonly AdmissionCheck[];
  readonly policies: PolicySet;
  readonly snapshots: ListSnapshots;
  readonly conversions: Conversions;
  readonly webhooks: WebhookClients;
  readonly discovery: Discovery;
  readonly credentials: Credentials;
  readonly authorities: ClusterAuthorities;
  readonly legacyTokenSecrets: boolean;
  readonly aggregator: Aggregator;
  readonly clock: Clock;
  readonly log: Logger;
  readonly #customResources: CustomResources;

  private constructor(options: ApiClusterOptions, store: ObjectStore) {
    const { clock, log } = options;
    this.name = options.name;
    this.clock = clock;
    this.log = log;
    this.store = store;
    this.scheme = createScheme(options.kinds);
    this.snapshots = new ListSnapshots(clock);
    this.webhooks = new WebhookClients({ store, clock });
    this.conversions = new Conversions(this.webhooks);
    this.discovery = new Discovery(this.scheme);
    this.authorizer = new Authorizer(store);
    this.policies = new PolicySet(store, this.scheme);
    this.admission = [
      escalationCheck(this.authorizer),
      approvalCheck,
      approvalRules,
      subjectRestriction,
      ownerReferencesCheck(this.scheme),
      paramRightsCheck(this.scheme, store),
      givenCrdCheck(store),
      ...(options.legacyTokenSecrets ? [] : [legacyTokenNotice]),
      ...options.admission,
    ];
    this.authorities = options.authorities;
    this.legacyTokenSecrets = options.legacyTokenSecrets;
    this.aggregator = new Aggregator(this, this.authorities.frontProxy);
    const { tokens, revocations, serviceAccounts, external } = options;
    const certificates = new ClientCertificates(this.authorities.clients.certPem, external?.certificates);
    const nowMs = (): number => clock.now();
    const externalTokens = external?.tokens;
    this.credentials = { tokens, externalTokens, revocations, serviceAccounts, certificates, store, nowMs };
    this.#customResources = new CustomResources(this.scheme, { clock, log });
  }

  /** @throws InputError when the stored data is damaged */
  static async open(options: ApiClusterOptions): Promise<ApiCluster> {
    const store = await ObjectStore.open({
      directory: options.directory,
      identity: options.identity,
      clock: options.clock,
      onFatal: options.onFatal,
      onWarning: (warning) => options.log.warn('recovery', { warning }),
    });
    const cluster = new ApiCluster(options, store);
    for (const entry of store.list(CRD_STORAGE)) cluster.#customResources.register(entry.object);
    store.give(options.definitions);
    return cluster;
  }

  readonly complete = (ref: ResourceRef, object: JsonObject): JsonObject =>
    this.#customResources.complete(ref, object);

  readonly afterWrite = (ref: ResourceRef, written: WrittenObject): void => {
    if (ref.definition.group === RBAC_GROUP) this.authorizer.invalidate();
    if (ref.definition.group === ADMISSION_GROUP) this.policies.invalidate();
    this.#customResources.afterWrite(ref, written.entry, written.removed);
  };

  close(): Promise<void> {
    this.webhooks.close();
    return this.store.close();
  }
}

export const CRD_STORAGE = 'customresourcedefinitions.apiextensions.k8s.io';

/** Keeps the scheme consistent with the stored CustomResourceDefinitions. */
class CustomResources {
  readonly #scheme: Scheme;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(scheme: Scheme, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#scheme = scheme;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** The definition with its status, established immediately. */
  complete(ref: ResourceRef, object: JsonObject): JsonObject {
    if (ref.definition.storageKey !== CRD_STORAGE) return object;
    return { ...object, status: establishedStatus(object, this.#scheme, timestamp(this.#clock)) };
  }

  afterWrite(ref: ResourceRef, entry: StoredObject, removed: boolean): void {
    if (ref.definition.storageKey !== CRD_STORAGE) return;
    if (removed) this.#unregister(entry.object);
    else this.register(entry.object);
  }

  /**
   * Serves the definition once its names are accepted. One that cannot be served (written by an
   * older version) is skipped and logged.
   */
  register(crd: JsonObject): void {
    if (!isEstablished(crd)) return;
    try {
      this.#scheme.register(definitionFromCrd(crd, this.#scheme));
    } catch (error) {
      const name = textAt(objectAt(crd, 'metadata'), 'name');
      this.#log.error('custom resource definition is not served', { crd: name, error: errorText(error) });
    }
  }

  #unregister(crd: JsonObject): void {
    const spec = objectAt(crd, 'spec');
    this.#scheme.unregister(textAt(spec, 'group'), textAt(objectAt(spec, 'names'), 'plural'));
  }
}

/**
 * The definitions of given kinds as clients read them: established, and under the same uid at each start.
 * @param since RFC 3339
 */
export function givenCrds({ definitions }: GivenKinds, since: string): readonly GivenObject[] {
  return definitions.map((definition) => {
    const crd = CRD_STRATEGY.fillIn?.(definition, undefined, since) ?? definition;
    const name = textAt(metadataOf(crd), 'name');
    const metadata = { name, uid: uidOf(name), creationTimestamp: since, generation: 1 };
    const object = { ...crd, metadata, status: establishedStatus(crd, new Scheme([]), since) };
    const entry = StoredObject.of({ namespace: '', name }, 1, stampVersion(object, 1));
    return { storage: CRD_STORAGE, entry };
  });
}

function uidOf(name: string): string {
  const digest = createHash('sha256').update(`${CRD_STORAGE}/${name}`).digest('hex');
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}

/** Without its definition, the hub would still serve a given kind. */
function givenCrdCheck(store: ObjectStore): AdmissionCheck {
  return ({ operation, ref: { definition }, object }) => {
    const { storageKey: storage } = definition;
    if (operation !== 'DELETE' || storage !== CRD_STORAGE) return [];
    const name = textAt(metadataOf(object), 'name');
    if (store.stored({ storage, namespace: '', name }) === undefined)
      throw forbidden(definition, name, 'the hub itself defines this kind, so it cannot be deleted');
    return [];
  };
}

/** Files with credentials that the hub accepts in addition to its own. */
export interface CredentialFiles {
  /** PEM; client certificates of these authorities are accepted. Read again when it changes. */
  readonly clientCa?: string | undefined;
  /** PEM; keys with which others sign ServiceAccount tokens. */
  readonly tokenKeys?: readonly string[] | undefined;
  /** Issuers that such tokens may name besides the hub's own. */
  readonly tokenIssuers?: readonly string[] | undefined;
  /** CSV: token, user, uid, groups. */
  readonly tokens?: string | undefined;
}

/** @throws InputError when a file cannot be used */
export function readCredentialFiles(
  { clientCa, tokenKeys = [], tokenIssuers = [], tokens }: CredentialFiles,
  log: Logger,
): ExternalCredentials & { readonly signers: Pick<TokenOptions, 'keys' | 'issuers'> } {
  return {
    certificates:
      clientCa === undefined ? undefined : new ExternalCertificates(new ClientCaFile(clientCa, log)),
    tokens: tokens === undefined ? undefined : new TokenAuthFile(tokens),
    signers: { keys: readTokenKeys(tokenKeys), issuers: tokenIssuers },
  };
}
