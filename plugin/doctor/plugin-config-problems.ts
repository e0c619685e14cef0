import type { Problem } from '@berth/runtime/problem/problem';
import { isPlaceholder } from '../tokens/token-grant.ts';
import type { ArgoFacts, ArgoSecret, ProbeResult } from './argo-facts.ts';

/** The errors of OpenSSL with which Node.js refuses a certificate. */
const CERTIFICATE = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT)/;

/** The token that the ConfigMap of a plugin refers to: `$SECRET:KEY`, or `$KEY` of the Secret `argocd-secret`. */
export function tokenReference(reference: string): { readonly secret: string; readonly key: string } {
  const [first = '', second] = reference.slice(1).split(':');
  return second === undefined ? { secret: 'argocd-secret', key: first } : { secret: first, key: second };
}

/**
 * Problems of the ConfigMap of a plugin generator, its token and its endpoint.
 * @param name of the ConfigMap
 */
export function pluginConfigProblems(name: string, facts: ArgoFacts): readonly Problem[] {
  const { namespace } = facts;
  const data = facts.configMaps.get(name);
  const object = `ConfigMap ${namespace}/${name}`;
  if (data === undefined)
    return [
      {
        ...error('argocd.config-missing', object, 'does not exist, but an ApplicationSet names it'),
        hint: `berth argocd install --argocd-namespace ${namespace} --name ${name} --url https://berth.berth-system.svc:8443`,
      },
    ];
  const set = (key: string, value: string): string =>
    `kubectl -n ${namespace} patch configmap ${name} --type merge -p '{"data":{"${key}":"${value}"}}'`;
  const problems: Problem[] = [];
  const { baseUrl = '', token = '', requestTimeout } = data;
  const urlProblem = wrongUrl(baseUrl);
  if (urlProblem !== undefined)
    problems.push({
      ...error('argocd.base-url', object, urlProblem),
      hint: set('baseUrl', 'https://berth.berth-system.svc:8443'),
    });
  if (requestTimeout !== undefined && !/^\d+$/.test(requestTimeout))
    problems.push({
      ...error(
        'argocd.request-timeout',
        object,
        `requestTimeout is ${JSON.stringify(requestTimeout)}, expected whole seconds without a unit`,
      ),
      hint: set('requestTimeout', '10'),
    });
  if (token.startsWith('$')) problems.push(...tokenProblems(token, object, facts));
  else
    problems.push({
      ...error(
        'argocd.token-reference',
        object,
        `token is ${token === '' ? 'missing' : 'not a reference'}, expected $SECRET:KEY`,
      ),
      hint: set('token', `$${name}-plugin:token`),
    });
  const probe = facts.probes.get(name);
  const { secret } = tokenReference(token);
  const tokenFix =
    secret === `${name}-plugin`
      ? `kubectl -n ${namespace} delete secret ${secret} && berth argocd install --argocd-namespace ${namespace} --name ${name} --url ${baseUrl} --token-entry NEW_FILE; then start berth serve with --token-file NEW_FILE`
      : `add the digest of the token in the Secret ${namespace}/${secret} to the token file of berth serve`;
  return probe === undefined
    ? problems
    : [...problems, ...probeProblems(probe, object, { baseUrl, tokenFix })];
}

function tokenProblems(reference: string, object: string, facts: ArgoFacts): readonly Problem[] {
  const { secret: name, key } = tokenReference(reference);
  const secret: ArgoSecret | undefined = facts.secrets.get(name);
  const create = `kubectl -n ${facts.namespace} create secret generic ${name} --from-file=${key}=TOKEN-FILE`;
  if (secret === undefined)
    return [
      {
        ...error('argocd.token-secret', object, `token names the Secret ${name}, which does not exist`),
        hint: create,
      },
    ];
  const inSecret = `Secret ${facts.namespace}/${name}`;
  const value = secret.data[key]?.trim();
  const patch = `kubectl -n ${facts.namespace} patch secret ${name} --type merge -p '{"stringData":{"${key}":"TOKEN"}}'`;
  if (value === undefined || value === '')
    return [
      {
        ...error('argocd.token-key', inSecret, `has no key ${key}: Argo CD then sends its name as the token`),
        hint: patch,
      },
    ];
  if (isPlaceholder(value))
    return [
      {
        ...error(
          'argocd.token-placeholder',
          inSecret,
          `${key} is the placeholder of the shipped manifest, which Berth never accepts`,
        ),
        hint: patch,
      },
    ];
  if (name === 'argocd-secret' || secret.labels['app.kubernetes.io/part-of'] === 'argocd') return [];
  return [
    {
      ...warning(
        'argocd.token-label',
        inSecret,
        'has no label app.kubernetes.io/part-of=argocd, which Argo CD asks for',
      ),
      hint: `kubectl -n ${facts.namespace} label secret ${name} app.kubernetes.io/part-of=argocd`,
    },
  ];
}

/** Whether only pods of the cluster can resolve the host. */
function isServiceAddress(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && /\.svc(\.|$)/.test(new URL(baseUrl).hostname);
}

/** @param tokenFix how to give Argo CD and the token file of Berth the same token */
function probeProblems(
  probe: ProbeResult,
  object: string,
  { baseUrl, tokenFix }: { readonly baseUrl: string; readonly tokenFix: string },
): readonly Problem[] {
  const isService = isServiceAddress(baseUrl);
  if (probe.kind === 'failed') {
    const isCertificate = CERTIFICATE.test(probe.code);
    return [
      isCertificate
        ? {
            ...error(
              'argocd.tls',
              object,
              `the certificate of ${baseUrl} is not trusted from here: ${probe.message}`,
            ),
            hint: 'NODE_EXTRA_CA_CERTS=ca.crt berth argocd doctor; Argo CD itself trusts it through plugin/manifests/argocd-trust.yaml',
          }
        : {
            ...warning(
              'argocd.unreachable',
              object,
              `${baseUrl} does not answer from here: ${probe.message}`,
            ),
            hint: isService
              ? 'kubectl -n berth-system port-forward service/berth 8443 & berth argocd doctor --url https://localhost:8443'
              : `start berth serve with --listen ${URL.canParse(baseUrl) ? new URL(baseUrl).host : 'HOST:PORT'}; if it has ended, its log names the reason`,
          },
    ];
  }
  // The probe names no placement. Berth reports that only after it has accepted the token and path.
  if (probe.status === 400) return [];
  return [
    {
      ...error('argocd.endpoint', object, `${baseUrl} answers ${probe.status}: ${probe.message}`),
      hint:
        probe.status === 401
          ? isService
            ? 'kubectl -n berth-system get secret berth-tokens -o jsonpath="{.data.tokens\\.yaml}" | base64 -d'
            : tokenFix
          : 'berth status',
    },
  ];
}

function wrongUrl(baseUrl: string): string | undefined {
  if (baseUrl === '') return 'baseUrl is missing';
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return `baseUrl is ${JSON.stringify(baseUrl)}, expected https://HOST:PORT`;
  if (url.search !== '' || url.hash !== '')
    return 'baseUrl has a query, to which Argo CD cannot add its path';
  if (url.pathname.includes('getparams.execute'))
    return 'baseUrl has the path that Argo CD adds itself, expected it without /api/v1/getparams.execute';
  return undefined;
}

function error(code: string, object: string, message: string): Problem {
  return { severity: 'error', code, object, message };
}

function warning(code: string, object: string, message: string): Problem {
  return { severity: 'warning', code, object, message };
}
