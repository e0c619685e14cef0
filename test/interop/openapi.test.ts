import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { swaggerDocument } from '../../packages/embedded-hub/src/openapi/v2/swagger-document.ts';
import { createScheme } from '@berth/embedded-hub/scheme/create-scheme';
import { definitionFromCrd } from '@berth/embedded-hub/scheme/crd';
import type {
  OpenApiSchema,
  OpenApiSchemas,
} from '../../packages/embedded-hub/test/openapi/open-api-document.ts';
import { thingCrd } from '../../packages/embedded-hub/test/openapi/v2/thing-crd.ts';
import { allCrds, OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

const POLL_MS = 200;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Where the structure of the release that the hub speaks (1.36) and of the real server (1.35) differ. */
const NEWER: ReadonlySet<string> = new Set(
  [
    'admissionregistration.v1.ValidatingAdmissionPolicyBinding',
    'admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec',
    'authentication.v1.TokenRequest',
    'authentication.v1.TokenRequestSpec',
    'authentication.v1.TokenRequestStatus',
    'authentication.v1.TokenReviewSpec',
    'autoscaling.v1.HorizontalPodAutoscaler',
    'autoscaling.v2.HorizontalPodAutoscaler',
    'batch.v1.CronJob',
    'core.v1.PodSpec',
    'core.v1.PodStatus',
    'core.v1.ResourceHealth',
    'core.v1.VolumeMountStatus',
    'discovery.v1.EndpointSlice',
    'policy.v1.PodDisruptionBudgetStatus',
    'rbac.v1.RoleRef',
    'scheduling.v1.PriorityClass',
  ].map((name) => `io.k8s.api.${name}`),
);
/** They name all groups of the server, of which the hub has fewer; the hub's table has no list type for `caBundle`. */
const OTHER: ReadonlySet<string> = new Set([
  'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec',
]);

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('OpenAPI v2 of a real kube-apiserver', () => {
  let real: ControlPlane;
  let theirs: OpenApiSchemas;
  let ours: OpenApiSchemas;

  beforeAll(async () => {
    real = await startControlPlane();
    const crds = [thingCrd(), ...allCrds()];
    for (const crd of crds) {
      const answer = await real.client.call('POST', CRDS, crd);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    }
    const scheme = createScheme(OCM_HUB_KINDS);
    scheme.register(definitionFromCrd(thingCrd()));
    ours = (JSON.parse(swaggerDocument(scheme).json) as { definitions: OpenApiSchemas }).definitions;
    const custom = Object.keys(ours).filter((name) => !name.startsWith('io.k8s.'));
    do {
      // fixed wait: the pace of a poll
      await pause(POLL_MS);
      theirs = (await real.client.call('GET', '/openapi/v2')).body.definitions;
    } while (!custom.every((name) => Object.hasOwn(theirs, name)));
  });
  afterAll(() => real?.stop());

  it('says the same of built-in kinds', () => {
    const shared = Object.keys(ours).filter(
      (name) => name.startsWith('io.k8s.') && Object.hasOwn(theirs, name),
    );
    expect(shared.length).toBeGreaterThan(400);
    const same = shared.filter((name) => !NEWER.has(name) && !OTHER.has(name));
    expect(pick(ours, same)).toEqual(withoutChoices(pick(theirs, same)));
  });

  it('says the same of custom kinds, OCM’s own among them', () => {
    const custom = Object.keys(ours).filter((name) => !name.startsWith('io.k8s.'));
    expect(pick(ours, custom)).toEqual(pick(theirs, custom));
  });
});

const pick = (definitions: OpenApiSchemas, names: readonly string[]): OpenApiSchemas =>
  Object.fromEntries(names.map((name) => [name, withoutTexts(definitions[name] ?? {})]));

/** Of built-in kinds the hub keeps neither the values that some texts may have, nor which fields exclude each other. */
const withoutChoices = (schemas: OpenApiSchemas): OpenApiSchemas =>
  JSON.parse(JSON.stringify(schemas), (key, value: unknown) =>
    (key === 'enum' || key === 'x-kubernetes-unions') && Array.isArray(value) ? undefined : value,
  ) as OpenApiSchemas;

/** The hub has no texts of built-in kinds, and names required fields in another order. */
function withoutTexts(schema: OpenApiSchema): OpenApiSchema {
  const { description: _description, required, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(required !== undefined && { required: [...required].sort() }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, below]) => [name, withoutTexts(below)]),
      ),
    }),
    ...(items !== undefined && { items: withoutTexts(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'boolean' ? additionalProperties : withoutTexts(additionalProperties),
    }),
  };
}
