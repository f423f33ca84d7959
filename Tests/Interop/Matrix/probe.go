// One action of Debian's grpc-go, for matrix.py: prints what it saw, a line of JSON for each message. See probe.py.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/ioutil"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	pb "perch/v1"
)

type fields map[string]interface{}

func say(f fields) {
	line, _ := json.Marshal(f)
	fmt.Println(string(line))
}

var names = map[codes.Code]string{codes.Canceled: "CANCELLED", codes.DeadlineExceeded: "DEADLINE_EXCEEDED",
	codes.InvalidArgument: "INVALID_ARGUMENT", codes.Unauthenticated: "UNAUTHENTICATED"}

func main() {
	address, action, word := os.Args[1], os.Args[2], map[string]string{}
	for _, each := range os.Args[3:] {
		parts := strings.SplitN(each, "=", 2)
		word[parts[0]] = parts[1]
	}
	options := []grpc.DialOption{grpc.WithInsecure()}
	if ca := word["ca"]; ca != "" {
		tls, err := credentials.NewClientTLSFromFile(ca, "")
		if err != nil {
			panic(err)
		}
		options = []grpc.DialOption{grpc.WithTransportCredentials(tls)}
	}
	if word["compress"] == "gzip" {
		options = append(options, grpc.WithDefaultCallOptions(grpc.UseCompressor("gzip")))
	}
	connection, err := grpc.Dial(address, options...)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if deadline, _ := strconv.Atoi(word["deadline"]); deadline > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(deadline)*time.Millisecond)
	}
	if word["bearer"] != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+word["bearer"])
	}
	if err := act(ctx, cancel, connection, action, word); err != nil {
		answer := status.Convert(err)
		reason, field := "", ""
		for _, detail := range answer.Details() {
			switch detail := detail.(type) {
			case *errdetails.ErrorInfo:
				reason = detail.Reason
			case *errdetails.BadRequest:
				field = detail.FieldViolations[0].Field
			}
		}
		say(fields{"code": names[answer.Code()], "reason": reason, "field": field})
	}
}

func act(ctx context.Context, cancel func(), connection *grpc.ClientConn, action string, word map[string]string) error {
	service := pb.NewEntitlementServiceClient(connection)
	switch action {
	case "products":
		ids, prefix := strings.Split(word["ids"], ","), "product-"
		if word["prefix"] != "" {
			prefix = word["prefix"]
		}
		count, _ := strconv.Atoi(word["count"])
		for n := 0; n < count; n++ {
			ids = append(ids, prefix+strconv.Itoa(n))
		}
		answer, err := service.GetProducts(ctx, &pb.GetProductsRequest{ProductIds: ids})
		if err == nil {
			say(fields{"found": len(answer.GetSuccess().Products), "unavailable": len(answer.GetSuccess().UnavailableIds)})
		}
		return err
	case "watch":
		token, _ := hex.DecodeString(word["token"])
		until, _ := strconv.Atoi(word["until"])
		stream, err := service.SubscriptionStatusTask(ctx, &pb.SubscriptionStatusTaskRequest{
			Account: word["account"], GroupId: "premium", ResumeToken: token})
		for err == nil {
			var message *pb.SubscriptionStatusTaskResponse
			if message, err = stream.Recv(); err == nil {
				state, statuses := "", len(message.GetSuccess().GetStatuses())
				switch message.State.(type) {
				case *pb.SubscriptionStatusTaskResponse_Loading:
					state = "loading"
				case *pb.SubscriptionStatusTaskResponse_Success:
					state = "success"
				case *pb.SubscriptionStatusTaskResponse_Unchanged:
					state = "unchanged"
				}
				say(fields{"state": state, "statuses": statuses, "token": hex.EncodeToString(message.GetInfo().GetResumeToken())})
				if (state == "success" || state == "unchanged") && statuses >= until {
					cancel()
				}
			}
		}
		return err
	case "error":
		_, err := service.GetSubscriptionStatus(ctx, &pb.GetSubscriptionStatusRequest{Account: "a"})
		return err
	case "load":
		file, _ := ioutil.ReadFile(word["file"])
		answer, err := pb.NewAdminServiceClient(connection).LoadCatalog(ctx, &pb.LoadCatalogRequest{File: file})
		if err == nil {
			say(fields{"subscriptions": answer.Summary.SubscriptionCount})
		}
		return err
	case "health":
		answer, err := health.NewHealthClient(connection).Check(ctx, &health.HealthCheckRequest{})
		if err == nil {
			say(fields{"status": answer.Status.String()})
		}
		return err
	case "reflection":
		stream, err := reflection.NewServerReflectionClient(connection).ServerReflectionInfo(ctx)
		if err == nil {
			err = stream.Send(&reflection.ServerReflectionRequest{
				MessageRequest: &reflection.ServerReflectionRequest_ListServices{}})
		}
		if err == nil {
			var answer *reflection.ServerReflectionResponse
			if answer, err = stream.Recv(); err == nil {
				names := []string{}
				for _, each := range answer.GetListServicesResponse().Service {
					names = append(names, each.Name)
				}
				say(fields{"services": names})
			}
		}
		return err
	}
	return nil
}
