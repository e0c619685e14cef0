# syntax=docker/dockerfile:1
# Build in a clone: docker build -t berth .   Elsewhere, with the commit: docker build -t berth --build-arg BERTH_COMMIT=$(git rev-parse HEAD) .
# Run: docker run --read-only --tmpfs /tmp -v berth-data:/data berth serve --help
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.base.json tsconfig.package.json ./
COPY scripts/build.mjs scripts/own-packages.mjs scripts/write-build.mjs ./scripts/
COPY src ./src
COPY plugin ./plugin
# The files of .git that name the commit, in a clone (.dockerignore). The pattern may match nothing.
COPY package.json .gi[t] ./.git/
ARG BERTH_COMMIT=
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/@berth

FROM node:24-bookworm-slim
# git speaks to remotes, openssh-client carries ssh:// URLs and checks SSH signatures, gpg checks GPG ones, ca-certificates verify https:// URLs.
RUN apt-get update \
  && apt-get install -y --no-install-recommends git openssh-client gpg ca-certificates \
  && rm -rf /var/lib/apt/lists/* /usr/local/lib/node_modules/npm /usr/local/bin/npm /usr/local/bin/npx /opt/yarn-* \
  && install -d -o 65532 -g 65532 /data
WORKDIR /app
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY package.json LICENSE ./
COPY examples ./examples
# A fleet's decisions are long lists that live shortly: with room for them the collector stops the engine a fifth as long.
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=64
USER 65532:65532
VOLUME ["/data"]
ENTRYPOINT ["node", "/app/dist/src/app/cli/main.js"]
CMD ["--help"]
