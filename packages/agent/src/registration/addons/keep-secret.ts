import { isDeepStrictEqual } from 'node:util';
import { judgeToken } from '@berth/kube/account-token';
import type { Reflector } from '@berth/kube/cache/reflector';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { parseKubeconfig } from '@berth/kube/config/parse-kubeconfig';
import type { ClientPair } from '@berth/kube/config/rotating-kube-config';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition } from '@berth/kube/model/object-meta';
import { requestToken } from '@berth/kube/request-token';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { certificateNotRotated, certificateRotated } from '@berth/ocm/registration/cluster-conditions';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';
import { errorText, InputError } from '@berth/runtime/errors';
import { Backoff } from '@berth/runtime/loop/backoff';
import { dump } from 'js-yaml';
import type { AddonRegistration } from '../../rules/addons/addon-registrations.ts';
import {
  type TokenInfrastructure,
  tokenNotRefreshed,
  tokenRefreshed,
} from '../../rules/addons/addon-token.ts';
import { type HubEntry, hubKubeconfig, sameHub } from '../../rules/registration/hub-entry.ts';
import {
  goTime,
  type HeldCertificate,
  planCertificate,
  renewalShare,
} from '../../rules/registration/plan-certificate.ts';
import { hubEntryOf } from '../credentials/credential-store.ts';
import { readCertificate } from '../credentials/read-credentials.ts';
import { SecretStore } from '../credentials/secret-store.ts';
import {
  advanceRequest,
  type OpenRequest,
  renewRequest,
  type RequestProgress,
} from '../joining/advance-request.ts';
import { AFTER_REFUSAL, requestProblem } from '../joining/request-certificate.ts';
import type { RegistrationSettings } from '../options/registration-settings.ts';
import type { AddonRecords } from './addon-records.ts';

export interface SecretTask extends SecretOwner {
  readonly hub: KubeApi;
  /** Of the cluster with the Secret. */
  readonly cluster: KubeApi;
  readonly records: AddonRecords;
  readonly memory: SecretMemory;
  readonly settings: RegistrationSettings;
  /** With the driver `token`. */
  readonly infrastructure: TokenInfrastructure;
  /** The synced certificate requests of the cluster. */
  readonly requests: () => Promise<Reflector>;
}

/** What is known of a Secret while the process runs. */
export class SecretMemory {
  readonly #random: () => number;
  readonly refusals: Backoff;
  /** Of the lifetime of the certificate; see `renewalShare`. */
  share: number;
  /** Until when the hub is not asked again, and what it said. */
  pause: { readonly untilMs: number; readonly problem: string } | undefined;

  constructor(random: () => number) {
    this.#random = random;
    this.refusals = new Backoff(AFTER_REFUSAL, random);
    this.share = renewalShare(random);
  }

  /** There is a new certificate. */
  renewed(): void {
    this.pause = undefined;
    this.refusals.reset();
    this.share = renewalShare(this.#random);
  }
}

export interface SecretOutcome {
  /** For the status of the add-on. */
  readonly condition?: Condition | undefined;
  /** When the credentials were issued, if the Secret has valid ones. */
  readonly issuedAtMs?: number | undefined;
  /** When the next pass is due. */
  readonly dueAtMs?: number | undefined;
}

/** A namespace that an add-on brings may come later: the Secret is tried again after this time. */
const NAMESPACE_RETRY_MS = 10_000;
const TOKEN_RETRY_MS = 30_000;

/**
 * Makes the Secret of an add-on's agent what it must be. Every step can be repeated, so the process may be killed
 * between any two.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/secret_controller.go`.
 */
export async function keepSecret(task: SecretTask, signal: AbortSignal): Promise<SecretOutcome> {
  const { secret, driver } = task.registration;
  const store = new SecretStore(task.cluster, secret, ADDON_KEYS);
  const files = await store.read();
  return driver === 'token' ? keepToken(task, store, files) : keepCertificate(task, { store, files, signal });
}

type AddonStore = SecretStore<keyof AddonFiles>;

interface CertificatePass {
  readonly store: AddonStore;
  readonly files: AddonFiles;
  readonly signal: AbortSignal;
}

async function keepCertificate(task: SecretTask, pass: CertificatePass): Promise<SecretOutcome> {
  const { registration, memory, settings } = task;
  const { store, files, signal } = pass;
  const nowMs = settings.clock.now();
  const held = readCertificate(files['tls.crt'], files['tls.key']);
  const plan = planCertificate(held, { subject: registration.subject, nowMs, share: memory.share });
  const isOfHub = leadsToHub(files, task);
  if (held !== undefined && plan.kind === 'keep' && isOfHub) {
    await keepFiles(task, store, files);
    return { ...validCertificate(held), dueAtMs: plan.renewAtMs };
  }
  const isStillValid = held !== undefined && plan.kind === 'request' && plan.why === 'renewal' && isOfHub;
  const meanwhile: SecretOutcome = isStillValid
    ? { ...validCertificate(held), dueAtMs: held.notAfterMs }
    : {};
  if (memory.pause !== undefined && nowMs < memory.pause.untilMs)
    return problemOutcome(memory.pause.problem, memory.pause.untilMs);
  const progress = await progressOf(task, files, signal);
  if (progress.kind === 'issued') return storeCertificate(task, { ...pass, pair: progress.pair });
  const problem = requestProblem(progress);
  if (progress.kind === 'refused') return pauseAfter(task, problem ?? '');
  // OCM's agent says nothing while a request waits for its approval.
  return progress.kind === 'crowded' ? problemOutcome(problem ?? '', meanwhile.dueAtMs) : meanwhile;
}

async function progressOf(
  task: SecretTask,
  files: AddonFiles,
  signal: AbortSignal,
): Promise<RequestProgress> {
  const { hub: api, registration, clusterName: cluster, memory, settings } = task;
  const { addon, signerName, subject } = registration;
  const open = recordedRequest(task, files);
  const wanted = { cluster, addon, signerName, subject };
  if (memory.pause !== undefined) await renewRequest({ wanted, open });
  memory.pause = undefined;
  return advanceRequest({ api, requests: await task.requests(), wanted, open, settings }, signal);
}

/** The open request in the record of the Secret. It is of no use for another hub or subject. */
function recordedRequest({ hub, registration, records }: SecretTask, files: AddonFiles): OpenRequest {
  const { addon, secret } = registration;
  const subject = JSON.stringify(registration.subject);
  return {
    read: async () => {
      const record = records.get(secret);
      const request = record?.request;
      if (record?.server !== hub.server || request?.subject !== subject) return undefined;
      // A key is used for only one certificate: that in the Secret has its own already.
      return request.keyPem === files['tls.key'] ? undefined : request;
    },
    write: (own) => records.put({ server: hub.server, addon, secret, request: { subject, ...own } }),
  };
}

async function storeCertificate(
  task: SecretTask,
  issued: CertificatePass & { readonly pair: { readonly certPem: string; readonly keyPem: string } },
): Promise<SecretOutcome> {
  const { registration, clusterName, memory, settings } = task;
  const { store, pair } = issued;
  const { clock, log } = settings;
  const held = readCertificate(pair.certPem, pair.keyPem);
  if (held === undefined || held.notAfterMs <= clock.now())
    return pauseAfter(task, 'the issued certificate has already expired: check the clock of this machine');
  const files = addonFiles(task, pair);
  if (!(await writeSecret(task, store, files))) return { dueAtMs: clock.now() + NAMESPACE_RETRY_MS };
  const { addon, secret } = registration;
  await task.records.put({ server: task.hub.server, addon, secret });
  memory.renewed();
  const until = new Date(held.notAfterMs).toISOString();
  log.info('add-on has a new certificate', { cluster: clusterName, addon, secret: store.place, until });
  const renewAtMs = held.notAfterMs - memory.share * (held.notAfterMs - held.notBeforeMs);
  return { ...validCertificate(held), dueAtMs: renewAtMs };
}

function validCertificate({ notBeforeMs, notAfterMs }: HeldCertificate): SecretOutcome {
  const condition = certificateRotated(goTime(notBeforeMs), goTime(notAfterMs));
  return { condition, issuedAtMs: notBeforeMs };
}

function problemOutcome(problem: string, dueAtMs: number | undefined): SecretOutcome {
  return { condition: certificateNotRotated(problem), dueAtMs };
}

function pauseAfter(
  { memory, settings, registration, clusterName }: SecretTask,
  problem: string,
): SecretOutcome {
  const untilMs = settings.clock.now() + memory.refusals.nextMs();
  memory.pause = { untilMs, problem };
  const { addon, signerName } = registration;
  settings.log.warn('add-on gets no certificate', {
    cluster: clusterName,
    addon,
    signer: signerName,
    problem,
  });
  return problemOutcome(problem, untilMs);
}

/** The credentials are valid. The record of the Secret, and the name of the cluster in it, may be missing. */
async function keepFiles(task: SecretTask, store: AddonStore, files: AddonFiles): Promise<void> {
  const { hub, registration, records, clusterName } = task;
  const { addon, secret } = registration;
  const record = records.get(secret);
  if (record?.server !== hub.server || record.request !== undefined)
    await records.put({ server: hub.server, addon, secret });
  // OCM's agents before 1.0 do not write it.
  if (files['cluster-name'] !== clusterName) await store.write({ 'cluster-name': clusterName });
}

async function keepToken(task: SecretTask, store: AddonStore, files: AddonFiles): Promise<SecretOutcome> {
  const { hub, registration, clusterName, settings, infrastructure } = task;
  const { addon, secret } = registration;
  const nowMs = settings.clock.now();
  // The watch shows when the add-on's manager has made the account.
  if (infrastructure.kind === 'waiting') return {};
  const account = { namespace: clusterName, name: addonNames(addon, clusterName).account };
  if (infrastructure.kind === 'malformed')
    return { condition: tokenNotRefreshed(account, infrastructure.why), dueAtMs: nowMs + TOKEN_RETRY_MS };
  const plan = judgeToken(files.token, infrastructure.accountUid, nowMs);
  if (plan.kind === 'keep' && leadsToHub(files, task)) {
    await keepFiles(task, store, files);
    const { claims, renewAtMs } = plan;
    return { condition: tokenRefreshed(claims), issuedAtMs: claims.issuedAtMs, dueAtMs: renewAtMs };
  }
  await task.records.put({ server: hub.server, addon, secret });
  let token: string;
  try {
    token = await requestToken(hub, account, settings.addons.tokenSeconds);
  } catch (error) {
    return { condition: tokenNotRefreshed(account, errorText(error)), dueAtMs: nowMs + TOKEN_RETRY_MS };
  }
  const next = judgeToken(token, infrastructure.accountUid, nowMs);
  if (next.kind === 'request')
    return {
      condition: tokenNotRefreshed(account, `the issued token is of no use: ${next.why}`),
      dueAtMs: nowMs + TOKEN_RETRY_MS,
    };
  if (!(await writeSecret(task, store, addonFiles(task, { token }))))
    return { dueAtMs: nowMs + NAMESPACE_RETRY_MS };
  settings.log.info('add-on has a new token', { cluster: clusterName, addon, secret: store.place });
  return {
    condition: tokenRefreshed(next.claims),
    issuedAtMs: next.claims.issuedAtMs,
    dueAtMs: next.renewAtMs,
  };
}

/** @returns whether it is written. False: its namespace does not exist. */
async function writeSecret(
  { settings, clusterName, registration }: SecretTask,
  store: AddonStore,
  files: Parameters<AddonStore['write']>[0],
): Promise<boolean> {
  try {
    await store.write(files);
    return true;
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
    const { addon } = registration;
    settings.log.debug('waiting for the namespace of an add-on', {
      cluster: clusterName,
      addon,
      place: store.place,
    });
    return false;
  }
}

/**
 * The files in the Secret of an add-on's agent. Source of the names: open-cluster-management.io/ocm
 * `pkg/registration/register` and `register/csr`, `register/token`.
 */
const ADDON_KEYS = ['tls.crt', 'tls.key', 'token', 'kubeconfig', 'cluster-name'] as const;
type AddonFiles = Readonly<Partial<Record<(typeof ADDON_KEYS)[number], string>>>;

interface SecretOwner {
  readonly registration: AddonRegistration;
  readonly clusterName: string;
  /** The connection to the hub, as the add-on's agent needs it: no file of this machine. */
  readonly entry: HubEntry;
}

/** All files of the Secret; undefined removes what another driver left. */
function addonFiles(
  { registration, clusterName, entry }: SecretOwner,
  issued: ClientPair | { readonly token: string },
): { readonly [Key in keyof AddonFiles]: string | undefined } {
  const { signerName, driver } = registration;
  return {
    'tls.crt': 'certPem' in issued ? issued.certPem : undefined,
    'tls.key': 'keyPem' in issued ? issued.keyPem : undefined,
    token: 'token' in issued ? issued.token : undefined,
    kubeconfig: signerName === CLIENT_SIGNER ? dump(hubKubeconfig(entry, driver)) : undefined,
    'cluster-name': clusterName,
  };
}

/**
 * Whether the kubeconfig in the Secret leads to this hub with the credentials beside it. If not, the credentials may be
 * those of another hub. Certificates of other signers have no kubeconfig.
 */
function leadsToHub(files: AddonFiles, { registration, entry }: SecretOwner): boolean {
  const { signerName, driver } = registration;
  if (signerName !== CLIENT_SIGNER) return true;
  const [found, wanted] = [files.kubeconfig, dump(hubKubeconfig(entry, driver))].map((text) => {
    try {
      return new KubeConfig(parseKubeconfig(text ?? '', '/'), {});
    } catch {
      return undefined;
    }
  });
  if (found === undefined || wanted === undefined) return false;
  const [user, wantedUser] = [found.getCurrentUser(), wanted.getCurrentUser()].map((one) => ({
    ...one,
    name: '',
  }));
  return sameHub(hubEntryOf(found), hubEntryOf(wanted)) && isDeepStrictEqual(user, wantedUser);
}
