# syntax=docker/dockerfile:1

FROM node:22-slim AS build
WORKDIR /project
COPY . .
# Without install scripts: the embedded Postgres is not needed here, and the libraries are built below.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
RUN npm run build:libs && npx nest build orders
RUN npm prune --omit=dev --ignore-scripts

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /project
COPY --from=build /project/package.json ./
COPY --from=build /project/node_modules node_modules
COPY --from=build /project/libs libs
COPY --from=build /project/apps apps
USER node
EXPOSE 3000
CMD ["node", "--enable-source-maps", "apps/orders/dist/main.js"]
